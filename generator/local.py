"""The local generator: a causal language model in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import cached_property, partial

from citewell.core.events import Token
from citewell.core.threads import in_own_thread
from citewell.core.types import Reference
from citewell.generator.causal import CausalModel, RefusalRule, Sampling, rendered
from citewell.generator.completer import Completer, LocalCompleter
from citewell.generator.prompt import Message, PromptForm, build_messages
from citewell.generator.refusal import REFUSAL, REFUSAL_BEGINNINGS, least_refusal
from citewell.generator.yes import LocalYesModel, YesModel

_MARK = "MARK"  # stands for what differs between prompts
# A model that refuses from this probability on refuses, so it need not read the references.
_CERTAIN = 0.005

Focus = Callable[[str, Sequence[Reference]], Sequence[Reference]]
"""Returns the references of a question that a model reads, with shorter texts."""


def whole(question: str, references: Sequence[Reference]) -> Sequence[Reference]:
    """Return the references as they are."""
    return references


class LocalGenerator:
    """A generator with a model such as `citewell.generator.openvino.OpenVinoModel`.

    One candidate is decoded greedily and streamed token by token. Several are sampled and share the
    computation of the prompt.
    """

    def __init__(
        self,
        model: CausalModel,
        name: str,
        *,
        prompt_tokens: int,
        answer_tokens: int,
        sampling: Sampling,
        form: PromptForm | None = None,
        refusal: float | None = None,
        focus: Focus = whole,
    ) -> None:
        """Write with `model`, which answers call `name`.

        `prompt_tokens` and `answer_tokens` limit what is read and written, and so does the model's context.
        `focus` shortens the references before that. If the form asks for refusals, the model refuses
        where its refusal has at least the probability `refusal` (0 to 1); elsewhere no answer begins so. None
        leaves it to decoding.
        """
        self.name = name
        self._model = model
        self._answer_tokens = min(answer_tokens, model.context // 2)
        self._prompt_tokens = min(prompt_tokens, model.context - self._answer_tokens)
        self._sampling = sampling
        self._form = form or PromptForm()
        self._refusal: RefusalRule | None = None
        if refusal is not None and REFUSAL in self._form.instruction:
            self._refusal = RefusalRule(REFUSAL, REFUSAL_BEGINNINGS, refusal)
        self.refuses = self._refusal is not None
        self._focus = focus
        self.yes_model: YesModel | None = LocalYesModel(model, name)
        self.completer: Completer | None = LocalCompleter(model, name)

    def generate(
        self,
        question: str,
        references: Sequence[Reference],
        n: int,
        *,
        first: int = 0,
        likely: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` candidates; closing it waits until the model has stopped, at its next token."""
        sampling = self._sampling._replace(seed=self._sampling.seed + first)
        refusal = self._refusal
        if refusal is not None and likely is not None:
            refusal = refusal._replace(least=least_refusal(refusal.least, likely))
            if refusal.least < _CERTAIN:
                return _refused(n, first)

        def prompt() -> str:
            return self._render(self.messages(question, references))

        return self._write(prompt, n, sampling, first, refusal)

    def complete(
        self, messages: Sequence[Message], n: int, *, seed: int | None = None
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` answers to any messages, as a chat would; `seed` overrides the generator's own.

        Raises `PromptTooLongError` if they leave no room for the answer in the model's context.
        """
        sampling = self._sampling if seed is None else self._sampling._replace(seed=seed)
        return self._write(lambda: self._render(messages), n, sampling)

    async def warm(self) -> None:
        """Read the constant beginning of all prompts, so that the first answer is fast.

        Cancelling stops the model.
        """
        cancelled = threading.Event()
        read = partial(self._model.read_ahead, cancelled=cancelled)
        await in_own_thread(lambda: read(self._beginning), stop=cancelled.set)

    @cached_property
    def _beginning(self) -> str:
        """The text with which all prompts of the form begin, up to the last control token in it."""
        shared = self._render(self._form.messages(_MARK, [(1, _MARK)])).partition(_MARK)[0]
        ends = [shared.rfind(token) + len(token) for token in self._model.control_tokens if token in shared]
        return shared[: max(ends, default=0)]

    def messages(self, question: str, references: Sequence[Reference]) -> list[Message]:
        """Return the messages that ask for an answer."""
        return self._messages(question, self._focus(question, references))

    async def likelihoods(self, messages: Sequence[Message], texts: Sequence[str]) -> list[list[float]]:
        """Return the log-probabilities (in nats) of the tokens of each text as the answer to messages.

        Raises `PromptTooLongError`.
        """
        return await in_own_thread(lambda: self._model.likelihoods(self._render(messages), texts))

    def prompt_text(self, question: str, references: Sequence[Reference]) -> str:
        """Return the whole prompt as the model reads it, for inspection and measurement."""
        return self._render(self._messages(question, references))

    def _messages(self, question: str, references: Sequence[Reference]) -> list[Message]:
        return build_messages(
            question,
            references,
            budget=self._prompt_tokens,
            count=self._count,
            cut=self._cut,
            form=self._form,
        )

    async def _write(
        self,
        prompt: Callable[[], str],
        n: int,
        sampling: Sampling,
        first: int = 0,
        refusal: RefusalRule | None = None,
    ) -> AsyncGenerator[Token, None]:
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[tuple[int, Sequence[int]] | None] = asyncio.Queue()
        cancelled = threading.Event()

        def seen(candidate: int, tokens: Sequence[int]) -> None:
            loop.call_soon_threadsafe(steps.put_nowait, (candidate, tokens))

        def run() -> None:
            try:
                self._model.write(
                    prompt(),
                    n,
                    most=self._answer_tokens,
                    sampling=sampling,
                    seen=seen,
                    cancelled=cancelled,
                    refusal=refusal,
                )
            finally:
                loop.call_soon_threadsafe(steps.put_nowait, None)

        work = asyncio.create_task(in_own_thread(run, stop=cancelled.set))
        texts = [_Text(self._model) for _ in range(n)]
        try:
            while (step := await steps.get()) is not None:
                candidate, tokens = step
                if piece := texts[candidate].add(tokens):
                    yield Token(piece, first + candidate)
            await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    def _render(self, messages: Sequence[Message]) -> str:
        return rendered(self._model, messages)

    def _count(self, text: str) -> int:
        return len(self._model.encode(text))

    def _cut(self, text: str, tokens: int) -> str:
        encoded = self._model.encode(text)
        if len(encoded) <= tokens:
            return text
        length = tokens - 1  # one token for the ellipsis
        return self._model.decode(encoded[:length]) + "…" if length > 0 else ""


async def _refused(n: int, first: int) -> AsyncGenerator[Token, None]:
    for candidate in range(first, first + n):
        yield Token(REFUSAL, candidate)


class _Text:
    """A converter of tokens to pieces of text, without characters whose bytes are incomplete."""

    def __init__(self, model: CausalModel) -> None:
        self._model = model
        self._tokens: list[int] = []
        self._given = 0

    def add(self, tokens: Sequence[int]) -> str:
        self._tokens.extend(tokens)
        text = self._model.decode(self._tokens)
        piece = text[self._given :]
        self._given = len(text)
        return piece
