"""The environment of answers: it asks a question, and the episode ends with the answer (a bandit)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from citewell.generator.causal import Sampling
from citewell.generator.local import LocalGenerator
from citewell.generator.resolve import ModelSource
from citewell.generator.training.arrange import Example, arrange
from citewell.generator.training.sources import ExampleSource
from citewell.generator.transformers import TransformersModel
from citewell.reinforcement.config import AnswersPromptConfig
from citewell.reinforcement.rollout import PromptedQuestion


class QuestionStream:
    """The questions of a run, asked in another order and arrangement each time."""

    def __init__(
        self,
        train: Sequence[ExampleSource],
        dev: Sequence[ExampleSource],
        model: Any,
        tokenizer: Any,
        source: ModelSource,
        prompt: AnswersPromptConfig,
        seed: int,
    ) -> None:
        """`model` and its tokenizer are those of the policy, whose own prompt form `source` knows."""
        self._train = [(each, row) for each in train for _ in range(each.repeat) for row in each.examples]
        self._dev = [(each, row) for each in dev for row in each.examples]
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._seed = seed
        self._generator = LocalGenerator(
            TransformersModel(model, tokenizer),
            source.name,
            prompt_tokens=prompt.prompt_tokens,
            answer_tokens=prompt.answer_tokens,
            sampling=Sampling(1.0, seed),
            form=source.defaults.form,
        )
        self.dev = [
            self._asked(each, row, f"{seed} dev {place}") for place, (each, row) in enumerate(self._dev)
        ]
        """The dev questions, always asked alike."""

    @property
    def demonstrations(self) -> list[PromptedQuestion]:
        """The dev questions that have an answer."""
        return [asked for asked in self.dev if asked.answer]

    def draw(self, iteration: int, count: int) -> list[PromptedQuestion]:
        """Return the questions of an iteration: each question once before any is asked a second time."""
        total = len(self._train)
        first = iteration * count
        found = []
        for number in range(first, first + count):
            epoch, place = divmod(number, total)
            order = random.Random(f"{self._seed} {epoch}").sample(range(total), total)  # noqa: S311
            source, row = self._train[order[place]]
            found.append(self._asked(source, row, f"{self._seed} {number}"))
        return found

    def _asked(self, source: ExampleSource, row: Example, seed: str) -> PromptedQuestion:
        shown = arrange(row, source.examples, self._prompt, random.Random(seed))  # noqa: S311
        prompt = self._generator.prompt_text(shown.question, shown.references)
        ids = self._tokenizer.encode(prompt, add_special_tokens=False)
        return PromptedQuestion(shown.question, shown.references, tuple(ids), shown.answer)
