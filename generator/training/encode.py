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

    def sizes(self, examples: Sequence[Example]) -> Iterator[Size]:
        """Yield the approximate size of each example (prompt and answer), its references cut to fit."""
        for example in examples:
            prompt = min(self._prompt_tokens(example), self._prompt.prompt_tokens)
            tokens = prompt + len(self.tokenizer.encode(example.answer, add_special_tokens=False))
            yield Size(1, tokens, tokens)

    def fits(self, example: Example) -> bool:
        """Return whether the prompt has room for all of the example's references, uncut."""
        return self._prompt_tokens(example) <= self._prompt.prompt_tokens

    def _prompt_tokens(self, example: Example) -> int:
        texts = [example.question, *example.references]
        return sum(len(ids) for ids in self.tokenizer(texts, add_special_tokens=False).input_ids) + 40
