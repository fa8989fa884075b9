"""The protocol of causal language models that run in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from citewell.core.errors import ModelError
from citewell.generator.prompt import Message

Seen = Callable[[int, Sequence[int]], object]
"""Called with `(candidate, tokens)` as tokens are written."""

FREQUENCY_PENALTY = 1.0
"""The default of `Sampling.frequency_penalty`, which a model's folder may override.

Without it, half of the words of SmolLM2's greedy answers are in repeated phrases.
"""

TOP_P = 0.95


class Sampling(NamedTuple):
    """The choice of tokens: one candidate greedily, several by `temperature` and `seed`.

    `frequency_penalty` is subtracted from a token's logit for each time that the answer contains it. A
    repetition penalty that counts the prompt too would keep the answer from using the references' words. With
    `single`, a single candidate is sampled too.
    """

    temperature: float
    seed: int
    frequency_penalty: float = FREQUENCY_PENALTY
    single: bool = False

    def draws(self, n: int) -> bool:
        """Return whether `n` candidates are sampled."""
        return n > 1 or self.single


class PromptTooLongError(ModelError):
    """A prompt that leaves a model too little of its context for the answer."""

    def __init__(self, tokens: int, most: int, context: int) -> None:
        """`tokens` are the prompt's, `most` the answer's, and `context` is the model's limit for both."""
        super().__init__(
            f"The prompt has {tokens:,} tokens and the answer up to {most:,}; the model reads and writes at "
            f"most {context:,} together.",
            "Lower generator.prompt_tokens or generator.answer_tokens, or use a model with a larger context.",
        )


YES, NO = ("Yes", "yes"), ("No", "no")


class YesAnswer(NamedTuple):
    """The probability of yes against no (0 to 1), and the tokens of the question."""

    yes: float
    tokens: int


class RefusalRule(NamedTuple):
    """The choice between an answer and a refusal, by the refusal's probability.

    Where that of `text` is at least `least` (0 to 1), the model writes `text`. Elsewhere it writes nothing
    that begins with one of `beginnings`, as `text` does. A greedy choice would depend on the number of ways
    in which an answer may begin.
    """

    text: str
    beginnings: tuple[str, ...]
    least: float


class CausalModel(Protocol):
    """An instruction-tuned language model, which any threads may call.

    It works on at most `concurrency` texts at a time; other calls wait.
    """

    concurrency: int
    context: int
    """Maximum tokens of prompt and answer together."""

    control_tokens: Sequence[str]
    """The tokens that begin and end turns, as text."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, for counting and cutting; a long text may have slightly too many."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without control tokens and without an incomplete last character."""
        ...

    def render(self, messages: Sequence[Message]) -> str:
        """Render messages by the model's chat template, up to the answer's first token."""
        ...

    def read_ahead(self, beginning: str, *, cancelled: threading.Event) -> None:
        """Read a text with which prompts will begin, which makes them faster if the model can keep it.

        It ends at a control token. Setting `cancelled` stops the model.
        """
        ...

    def write(
        self,
        prompt: str,
        n: int,
        *,
        most: int,
        sampling: Sampling,
        seen: Seen,
        cancelled: threading.Event,
        refusal: RefusalRule | None = None,
        grammar: str = "",
    ) -> None:
        """Write `n` continuations of at most `most` tokens, each ending before a token that ends turns.

        `seen` is called from any thread that writes then, and must not wait. Setting `cancelled` stops the
        model at its next token. Raises `PromptTooLongError`.
        With a `grammar` in xgrammar's EBNF, whose start rule is `root`, the text follows the grammar, but
        `most` may cut it short.
        """
        ...

    def yes(self, prompt: str) -> YesAnswer:
        """Return the probability of yes against no as the first word after a prompt.

        Raises `PromptTooLongError`.
        """
        ...

    def likelihoods(self, prompt: str, texts: Sequence[str]) -> list[list[float]]:
        """Return the log-probabilities (in nats) of the tokens of each text, right after the prompt.

        Raises `PromptTooLongError`.
        """
        ...


def rendered(model: CausalModel, messages: Sequence[Message]) -> str:
    """Render messages by a model's chat template, so that their texts cannot begin or end a turn."""
    return model.render(
        [message | {"content": _inert(message["content"], model.control_tokens)} for message in messages]
    )


def _inert(text: str, control_tokens: Sequence[str]) -> str:
    # A page that spells out a control token must not end the user's turn.
    for token in control_tokens:
        text = text.replace(token, " ")
    return text
