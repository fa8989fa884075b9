"""The common form of all training data: a question with labeled passages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from citewell.core.training.sources import question_key


@dataclass(frozen=True, slots=True)
class LabeledRow:
    """A question, its passages, and the label of each: the higher, the better.

    The source defines the meaning of a label: see `citewell.retriever.training.labels`. `answers` are known
    answer texts, as passages contain them.
    """

    question: str
    passages: tuple[str, ...]
    targets: tuple[float, ...]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows of one source; each question has the weight `weight`, and is seen `repeat` times per epoch."""

    name: str
    rows: tuple[LabeledRow, ...]
    weight: float = 1.0
    repeat: int = 1


def number(text: str, seed: int) -> int:
    """Return a pseudorandom number of a text: the same on every machine and in every run with this seed."""
    return int.from_bytes(hashlib.sha256(f"{seed} {text}".encode()).digest()[:8], "big")


def known_answers(sources: Iterable[RowSource]) -> Mapping[str, frozenset[str]]:
    """Map the key of each question to the keys of all passages that have a label above 0 for it."""
    known: dict[str, set[str]] = {}
    for source in sources:
        for row in source.rows:
            found = known.setdefault(question_key(row.question), set())
            found.update(
                question_key(text)
                for text, target in zip(row.passages, row.targets, strict=True)
                if target > 0
            )
    return {question: frozenset(passages) for question, passages in known.items()}
