"""Scores of a dual encoder and of BM25 as one."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.retriever.fusion import Scores, candidates, fused, standardized


def scores(*values: float) -> Scores:
    return np.array(values, dtype=np.float32)


def test_standard_scores() -> None:
    assert standardized(scores(1, 2, 3)).tolist() == pytest.approx([-1.2247449, 0, 1.2247449])
    assert standardized(scores(2, 2)).tolist() == [0, 0]
    assert len(standardized(scores())) == 0


def test_scale_and_offset_of_either_play_no_part() -> None:
    dense, lexical = scores(0.1, 0.7, 0.3, 0.2), scores(3, 0, 9, 1)
    once = fused(dense, lexical)
    assert fused(dense * 40 + 100, lexical / 3).tolist() == pytest.approx(once.tolist(), abs=1e-4)


def test_the_weight_says_who_decides() -> None:
    dense, lexical = scores(1, 0), scores(0, 1)
    assert np.argmax(fused(dense, lexical)) == 0
    assert np.argmax(fused(dense, lexical, weight=0.4)) == 1


def test_what_a_full_list_does_not_hold_scores_as_its_last() -> None:
    found = candidates({"b": 0.5, "a": 0.25}, {"b": 4.0, "c": 3.0}, 2)
    assert found.names == ("a", "b", "c")
    assert found.dense.tolist() == [0.25, 0.5, 0.25]
    assert found.lexical.tolist() == [3, 4, 3]


def test_what_a_short_list_by_words_does_not_hold_shares_no_word() -> None:
    found = candidates({"b": 0.5, "a": 0.25}, {"c": 3.0}, 100)
    assert found.lexical.tolist() == [0, 0, 3]
    assert candidates({}, {}, 100).names == ()
