"""The scorer without training prefers supported answers."""

from __future__ import annotations

from citewell.core.types import Sentence
from citewell.scorer.scorer import SupportScorer


def sentence(support: float, *, supported: bool = True) -> Sentence:
    return Sentence("A sentence.", (1,) if supported else (), support, supported=supported)


def test_better_support_scores_higher() -> None:
    candidates = [
        [sentence(0.6), sentence(0.6)],
        [sentence(1.0), sentence(0.9)],
        [sentence(1.0), sentence(0.9, supported=False)],
        [sentence(0.4, supported=False)],
        [],
    ]
    scores = SupportScorer().score("Why?", candidates, [])
    assert scores == [0.6, 0.95, 0.5, 0.0, 0.0]


def test_length_alone_does_not_help() -> None:
    short, long = SupportScorer().score("Why?", [[sentence(0.8)], [sentence(0.8)] * 6], [])
    assert short == long == 0.8


def test_no_candidates() -> None:
    assert SupportScorer().score("Why?", [], []) == []
