"""From an example to tokens, through the prompt that answers are generated from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from citewell.core.training.plan import Size
from citewell.generator.causal import Sampling
from citewell.generator.local import LocalGenerator
from citewell.generator.training.arrange import Example, Shown, arrange
from citewell.generator.training.config import GeneratorPromptConfig
from citewell.generator.training.sources import ExampleSource
from citewell.generator.transformers import TransformersModel

_MARK_TOKENS = 6  # of the mark and the line ends around a reference


class TokenizedExample(NamedTuple):
    """The tokens of a prompt, and of its answer with the token that ends a turn."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]


class ExampleTokenizer:
    """An encoder that arranges and tokenizes examples."""

    def __init__(self, model: Any, tokenizer: Any, prompt: GeneratorPromptConfig, seed: int) -> None:
        """`model` is a causal language model of transformers; only its limits are used."""
        self.tokenizer = tokenizer
        self._prompt = prompt
        self._seed = seed
        self.generator = LocalGenerator(
            TransformersModel(model, tokenizer),
            "trained",
            prompt_tokens=prompt.prompt_tokens,
            answer_tokens=prompt.answer_tokens,
            sampling=Sampling(1.0, seed, prompt.frequency_penalty),
            form=prompt.defaults.form,
        )

    def shown(self, source: ExampleSource, row: int, time: int) -> Shown:
        """Return a source's row as it is shown the `time`-th time, in another order each time."""
        chance = random.Random(f"{self._seed} {source.name} {row} {time}")  # noqa: S311
        return arrange(source.examples[row], source.examples, self._prompt, chance)

    def encode(self, shown: Shown) -> TokenizedExample:
        """Return the tokens of a row as it is shown.

        An answer that is too long is cut and gets no end token.
        """
        prompt = self.generator.prompt_text(shown.question, shown.references)
        answer = self.tokenizer.encode(shown.answer, add_special_tokens=False)
        answer.append(self.tokenizer.eos_token_id)
        return TokenizedExample(
            tuple(self.tokenizer.encode(prompt, add_special_tokens=False)),
            tuple(answer[: self._prompt.answer_tokens]),
        )

    def sizes(self, source: ExampleSource) -> Iterator[Size]:
        """Yield the approximate size of each example (prompt and answer), its references cut to fit."""
        filled = self._prompt_tokens(source, fill=self._prompt.fill)
        for example, prompt in zip(source.examples, filled, strict=True):
            tokens = min(prompt, self._prompt.prompt_tokens) + self._count([example.answer])
            yield Size(1, tokens, tokens)

    def fitting(self, source: ExampleSource) -> tuple[Example, ...]:
        """Return the examples whose prompt has room for all of its own references, uncut."""
        sizes = zip(source.examples, self._prompt_tokens(source, fill=False), strict=True)
        return tuple(example for example, size in sizes if size <= self._prompt.prompt_tokens)

    def _prompt_tokens(self, source: ExampleSource, *, fill: bool) -> list[int]:
        """Return the tokens of each example's prompt; references that `fill` it up count as the mean one."""
        around = self._count([self.generator.prompt_text("", [])])
        references = [self._count(example.references) for example in source.examples]
        listed = sum(len(example.references) for example in source.examples)
        mean = sum(references) / max(1, listed)
        prompts = []
        for example, own in zip(source.examples, references, strict=True):
            shown = len(example.references)
            fillers = max(0, self._prompt.references - shown) if fill else 0
            marks = _MARK_TOKENS * (shown + fillers)
            prompts.append(round(around + self._count([example.question]) + own + fillers * mean + marks))
        return prompts

    def _count(self, texts: Sequence[str]) -> int:
        if not texts:
            return 0
        return sum(len(ids) for ids in self.tokenizer(list(texts), add_special_tokens=False).input_ids)
