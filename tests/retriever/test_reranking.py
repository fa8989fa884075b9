"""The order of candidates after a cross-encoder has read the best of them."""

from __future__ import annotations

import numpy as np

from citewell.retriever.reranking import Reranker
from tests.retriever.evaluation.made_up import WordReader

TEXTS = ["cats", "red dogs", "red cats", "a red fox"]


def test_values_are_mixed_and_the_others_stay_behind() -> None:
    values = Reranker(WordReader(), 3, 0.1).values("red fox", TEXTS, np.array([0.9, 0.85, 0.7, 0.6]))
    np.testing.assert_allclose(values, [0.9, 0.95, 0.8, 0.7])
    values = Reranker(WordReader(), 2, -1.0).values("red fox", TEXTS, np.array([0.9, 0.85, 0.7, 0.6]))
    np.testing.assert_allclose(values, [0.9, -0.15, -0.3, -0.4])


def test_fewer_texts_than_candidates() -> None:
    values = Reranker(WordReader(), 9, 1.0).values("red fox", TEXTS[:1], np.array([0.5]))
    np.testing.assert_allclose(values, [0.5])
    assert len(Reranker(WordReader(), 9, 1.0).values("red fox", [], np.array([]))) == 0
