"""The best sentence of a passage decides beside the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.core.types import Passage
from citewell.retriever.best_sentence import BestSentences
from citewell.retriever.encoder.encoder import Vectors

MINUTES = Passage("m", "Minutes", "The roof leaks. Tea is free.\n- fees rise to £24\nJob | Price\nTyre | £9")
ROOF = Passage("r", "The roof", "The roof is old.")


class Counting:
    """Gives texts on fees 1 for the first part and texts on tyres 1 for the second, and counts texts."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        return np.array([["Fees" in text, "Tyre" in text] for text in texts], dtype=np.float32)


def test_a_passage_gains_its_best_sentence_for_each_part() -> None:
    sentences = BestSentences(Counting())
    values = np.array([0.6, 0.5])
    assert sentences.values(0, [ROOF, MINUTES], values, 16).tolist() == [0.6, 1.5]
    assert sentences.values(1, [ROOF, MINUTES], values, 16).tolist() == [0.6, 1.5]


def test_sentences_are_read_below_their_title_and_once() -> None:
    counting = Counting()
    sentences = BestSentences(counting)
    for _ in range(2):
        sentences.values(0, [MINUTES], np.array([0.5]), 16)
    assert counting.read == [
        "Minutes. The roof leaks.",
        "Minutes. Tea is free.",
        "Minutes. Fees rise to £24.",
        "Minutes. Job: Price.",
        "Minutes. Tyre: £9.",
    ]


def test_passages_that_are_not_read_stay_behind_in_their_order() -> None:
    other = Passage("o", "Other", "Nothing.")
    found = BestSentences(Counting()).values(0, [MINUTES, ROOF, other], np.array([0.5, 0.4, 0.1]), 1)
    assert found[0] == 1.5
    assert found[0] > found[1] > found[2]
