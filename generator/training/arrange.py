"""The shown form of a row: the choice and order of its references, and an answer that cites them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.core.types import Reference
from citewell.generator.citations.marks import read_segments, write_marks
from citewell.generator.training.config import ArrangementConfig


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the texts of its references, and an answer whose marks count them from 1."""

    question: str
    references: tuple[str, ...]
    answer: str

    @property
    def cited(self) -> tuple[int, ...]:
        """The indices, from 0, of the references that the answer cites."""
        marks = self._marks()
        return tuple(index for index in range(len(self.references)) if index + 1 in marks)

    @property
    def is_astray(self) -> bool:
        """True if the answer cites a reference that does not exist."""
        return not self._marks() <= set(range(1, len(self.references) + 1))

    def _marks(self) -> set[int]:
        return {mark for segment in read_segments(self.answer) for mark in segment.marks}


@dataclass(frozen=True, slots=True)
class Shown:
    """The model's input from an example, and its expected output."""

    question: str
    references: tuple[Reference, ...]
    answer: str


def arrange(
    example: Example, others: Sequence[Example], prompt: ArrangementConfig, chance: random.Random
) -> Shown:
    """Show an example with `prompt.references` references: those that it cites, then the first others.

    With `fill`, references of `others` make up the number; nothing cites them, as in the data that WebGLM
    describes in its appendices C and D. With `shuffle` the order is drawn by `chance`. The answer's marks are
    renumbered, in rising order; marks of references that do not exist are removed.
    """
    indices = sorted(range(len(example.references)), key=lambda index: index not in example.cited)
    shown = [(index, example.references[index]) for index in sorted(indices[: prompt.references])]
    if prompt.fill:
        shown += [(-1, text) for text in _useless(example, others, prompt.references - len(shown), chance)]
    if prompt.shuffle:
        chance.shuffle(shown)
    numbers = {index + 1: number for number, (index, _) in enumerate(shown, 1) if index >= 0}
    references = tuple(Reference(number, "", "", text, 0.0) for number, (_, text) in enumerate(shown, 1))
    return Shown(example.question, references, _renumbered(example.answer, numbers))


def _useless(example: Example, others: Sequence[Example], count: int, chance: random.Random) -> list[str]:
    found: dict[str, None] = {}
    for _ in range(4 * count if others else 0):
        other = chance.choice(others)
        text = chance.choice(other.references)
        if len(found) < count and other.question != example.question and text not in example.references:
            found[text] = None
    return list(found)


def _renumbered(answer: str, numbers: dict[int, int]) -> str:
    return write_marks(
        segment._replace(marks=tuple(sorted(numbers[mark] for mark in segment.marks if mark in numbers)))
        for segment in read_segments(answer)
    )
