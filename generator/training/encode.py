"""From an example to tokens, through the very prompt that answers are written from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from citewell.generator.causal import Sampling
from citewell.generator.local import LocalGenerator
from citewell.generator.training.arrange import Example, Shown, arrange
from citewell.generator.training.config import GeneratorPromptConfig
from citewell.generator.training.sources import ExampleSource
from citewell.generator.transformers import TransformersModel


class TokenizedExample(NamedTuple):
    """The tokens of a prompt, and of its answer with the token that ends a turn."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]


class ExampleTokenizer:
    """Lays examples out and turns them into tokens."""

    def __init__(self, model: Any, tokenizer: Any, prompt: GeneratorPromptConfig, seed: int) -> None:
        """`model` is a causal language model of transformers, which is asked for its limits only."""
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
        """A source's row as it is shown the `time`-th time, in another order each time."""
        chance = random.Random(f"{self._seed} {source.name} {row} {time}")  # noqa: S311
        return arrange(source.examples[row], source.examples, self._prompt, chance)

    def encode(self, shown: Shown) -> TokenizedExample:
        """The tokens of a row as it is shown; an answer that is too long is cut, and so does not end."""
        prompt = self.generator.prompt_text(shown.question, shown.references)
        answer = self.tokenizer.encode(shown.answer, add_special_tokens=False)
        answer.append(self.tokenizer.eos_token_id)
        return TokenizedExample(
            tuple(self.tokenizer.encode(prompt, add_special_tokens=False)),
            tuple(answer[: self._prompt.answer_tokens]),
        )

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """About how many tokens each example has, prompt and answer, where its references are cut to fit."""
        return [
            min(self._prompt_tokens(example), self._prompt.prompt_tokens)
            + len(self.tokenizer.encode(example.answer, add_special_tokens=False))
            for example in examples
        ]

    def fits(self, example: Example) -> bool:
        """Whether the prompt has room for the example's references, whole."""
        return self._prompt_tokens(example) <= self._prompt.prompt_tokens

    def _prompt_tokens(self, example: Example) -> int:
        texts = [example.question, *example.references]
        return sum(len(ids) for ids in self.tokenizer(texts, add_special_tokens=False).input_ids) + 40
