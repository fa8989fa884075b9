"""BM25 by hand, and texts that share nothing."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from citewell.retriever.lexical import bm25


def test_a_worked_example() -> None:
    texts = ["blue sky", "blue blue sea water", "green grass grows here"]
    # N = 3; mean length 10 / 3; k1 = 1.2, b = 0.75; norm = k1 (1 - b + b · length / mean).
    norm = [1.2 * (0.25 + 0.75 * length / (10 / 3)) for length in (2, 4, 4)]
    blue, sky = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)  # in two texts, in one
    expected = [
        blue * 2.2 / (1 + norm[0]) + sky * 2.2 / (1 + norm[0]),
        blue * 2 * 2.2 / (2 + norm[1]),
        0.0,
    ]
    assert bm25("Why is the sky blue?", texts) == pytest.approx(expected)


def test_no_shared_word_scores_nothing() -> None:
    assert bm25("volcano", ["The sky is blue.", "Bread rises."]).tolist() == [0.0, 0.0]


def test_a_word_in_every_text_still_counts_for_something() -> None:
    assert (bm25("sky", ["sky", "a sky", "the blue sky"]) > 0).all()


@pytest.mark.parametrize("query", ["sky", "", "…"])
def test_empty_texts(query: str) -> None:
    assert bm25(query, []).shape == (0,)
    assert bm25(query, ["", ""]).tolist() == [0.0, 0.0]


def test_a_query_of_function_words_uses_them() -> None:
    scores = bm25("to be or not to be", ["To be is to do.", "Blue sky."])
    assert scores[0] > 0
    assert scores[1] == 0


def test_function_words_of_other_queries_play_no_part() -> None:
    texts = ["Why is it that the what and the who?", "Sky."]
    assert np.argmax(bm25("why is the sky blue", texts)) == 1
    assert bm25("why is the sky blue", texts)[0] == 0


def test_scripts_without_spaces() -> None:
    assert np.argmax(bm25("天空为什么蓝", ["面包会膨胀。", "蓝色的天空。"])) == 1


def test_a_repeated_word_of_the_query_counts_once() -> None:
    texts = ["blue sky", "green grass"]
    assert bm25("sky sky sky", texts).tolist() == bm25("sky", texts).tolist()
