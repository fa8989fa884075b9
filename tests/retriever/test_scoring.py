"""What decides between two passages: the encoder's relevance, and what it is weighed against."""

from __future__ import annotations

import math

import numpy as np
import pytest

from citewell.retriever.scoring import PassageFeatures, order

PLAIN = {"relevance": 0.5, "lexical": 0.5, "words": 60.0, "lead": 0.0, "numbers": 0.0}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"relevance": 0.6}, {}),
        ({"lexical": 1.0}, {}),
        ({"lexical": 1.0, "relevance": 0.46}, {}),
        ({}, {"lexical": 1.0, "relevance": 0.44}),
        ({}, {"words": 2.0, "relevance": 0.7}),
        ({"words": 20.0, "relevance": 0.52}, {}),
        ({"words": 25.0, "relevance": 0.51}, {"words": 200.0}),
        ({"lead": 1.0}, {"relevance": 0.9}),
        ({"lead": 0.5}, {"relevance": 0.7}),
        ({"numbers": 1.0}, {"relevance": 0.55}),
        ({}, {"relevance": -math.inf, "lead": 1.0, "lexical": 1.0, "numbers": 1.0}),
    ],
)
def test_which_of_two_passages_comes_first(better: dict[str, float], worse: dict[str, float]) -> None:
    features = {name: np.array([(PLAIN | better)[name], (PLAIN | worse)[name]]) for name in PLAIN}
    first, second = order(PassageFeatures(**features))
    assert first > second
