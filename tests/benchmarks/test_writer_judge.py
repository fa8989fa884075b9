"""The pairs that measure the judges of citations, and what is counted."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from benchmarks.writer_judge import SETS, LabeledPair, measured, read_pairs
from citewell.generator.evaluation.judges.judge import ClaimAndPassages


@pytest.mark.skipif(
    not os.environ.get("CITEWELL_DATA"), reason="CITEWELL_DATA does not name the folder of evaluation data"
)
def test_half_of_the_pairs_of_each_set_are_supported_and_all_differ() -> None:
    pairs = read_pairs(20)
    counts = Counter((each.source, each.supported) for each in pairs)
    assert counts == {(name, supported): 10 for name in SETS for supported in (True, False)}
    assert len({each.pair for each in pairs}) == 60
    assert read_pairs(20) == pairs


def test_the_threshold_is_chosen_on_one_half_and_measured_on_the_other() -> None:
    kinds = [True, False, True, False] * 6
    labeled = [
        LabeledPair(ClaimAndPassages(f"Claim {place}.", ("Text.",)), SETS[place // 8], supported)
        for place, supported in enumerate(kinds)
    ]
    high, low = 0.9, 0.6
    right = measured(lambda pairs: [high if each else low for each in kinds], labeled)
    assert low < right["threshold"] <= high
    assert (right["balanced accuracy"], right["at one half"], right["area under the curve"]) == (
        1.0,
        0.5,
        1.0,
    )
    halves = [place // 2 % 2 == 0 for place in range(len(kinds))]
    turned = [high if each == first else low for each, first in zip(kinds, halves, strict=True)]
    assert measured(lambda pairs: turned, labeled)["balanced accuracy"] == 0.0
