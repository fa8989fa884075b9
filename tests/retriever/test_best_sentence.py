"""The best sentence of a passage decides beside the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.core.types import Passage
from citewell.retriever.best_sentence import by_best_sentence, read_first
from citewell.retriever.choosing import OrderedPassage
from citewell.retriever.encoder.encoder import Vectors

MINUTES = Passage("m", "Minutes", "The roof leaks. Tea is free.\n- fees rise to £24\nJob | Price\nTyre | £9")
ROOF = Passage("r", "The roof", "The roof is old.")


class Counting:
    """Gives texts with the question's word 1 and others 0, and keeps the texts."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, question: str, texts: Sequence[str]) -> Vectors:
        self.read += texts
        return np.array([question in text for text in texts], dtype=np.float32)


def test_a_passage_gains_its_best_sentence() -> None:
    values = np.array([0.6, 0.5])
    for question in ("Fees", "Tyre"):
        assert by_best_sentence(Counting(), question, [ROOF, MINUTES], values, 16).tolist() == [0.6, 1.5]


def test_sentences_are_read_below_their_title() -> None:
    counting = Counting()
    by_best_sentence(counting, "Fees", [MINUTES], np.array([0.5]), 16)
    assert counting.read == [
        "Minutes. The roof leaks.",
        "Minutes. Tea is free.",
        "Minutes. Fees rise to £24.",
        "Minutes. Job: Price.",
        "Minutes. Tyre: £9.",
    ]


def test_passages_that_are_not_read_gain_what_a_weak_one_gains() -> None:
    others = [Passage("o", "Other", f"Nothing {number}.") for number in range(2)]
    passages, values = [MINUTES, ROOF, *others], np.array([0.5, 0.4, 0.3, 0.1])
    counting = Counting()
    found = by_best_sentence(counting, "Fees", passages, values, 2)
    assert found.tolist() == pytest.approx([1.5, 0.4, 0.55, 0.35])
    assert not any("Nothing" in text for text in counting.read)


def test_the_best_by_words_are_read_with_the_best() -> None:
    ranked = [OrderedPassage(row, 1 - row / 10, ROOF) for row in range(9)]
    by_words = [8, 0, 7, 6, 5, 4]
    assert [found.row for found in read_first(ranked, by_words, 6)] == [0, 1, 2, 3, 4, 8, 5, 6, 7]
    assert [found.row for found in read_first(ranked, by_words, 2)] == [0, 8, 1, 2, 3, 4, 5, 6, 7]
    assert read_first(ranked, [], 6) == ranked
