from __future__ import annotations

import os

import pytest

from benchmarks.citation_support import all_words, content_words_and_facts, read_pairs
from citewell.core.settings import CitationSettings
from citewell.generator.citations.support import rouge_1_precision


@pytest.mark.skipif(
    not os.environ.get("CITEWELL_DATA"), reason="CITEWELL_DATA does not name the folder of evaluation data"
)
def test_the_support_check_does_not_fall_behind_its_pinned_floor() -> None:
    """On claims that experts judged: what is kept of supported ones, and beside other passages."""
    pairs = read_pairs()
    threshold = CitationSettings().threshold

    def kept(kind: str) -> float:
        values = [content_words_and_facts(pair) >= threshold for pair in pairs[kind]]
        return sum(values) / len(values)

    assert len(pairs["complete"]) == 663
    assert kept("complete") >= 0.48
    assert kept("other passage") <= 0.045


def test_both_measures_agree_where_there_are_no_stop_words() -> None:
    from benchmarks.citation_support import ClaimPair

    pair = ClaimPair("tides rise twice daily", "Tides rise along coasts.")
    assert all_words(pair) == rouge_1_precision(*pair) == 0.5
