"""Sentences that refer to the one before."""

from __future__ import annotations

import pytest

from citewell.core.pointing_back import points_back


@pytest.mark.parametrize(
    "text",
    [
        "They spout three times a minute.",
        "In 1910 he won a prize.",
        "Its length is 3 km.",
        "However, it is rare.",
        "Large earthquakes, however, can destroy towns.",
        "By contrast, volcanoes are rare there.",
        "For example, coal burns.",
        "The following month, troops landed.",
        "Two years later, Ada left.",
    ],
)
def test_these_cannot_stand_alone(text: str) -> None:
    assert points_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "Italy is long.",
        "The next meeting is in May.",
        "The same rule holds for bees.",
        "Theseus met him.",
        "For examples of coal, ask a geologist.",
        "All whales of the south spout as they swim.",
    ],
)
def test_these_can(text: str) -> None:
    assert not points_back(text)
