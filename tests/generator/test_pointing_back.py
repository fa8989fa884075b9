"""Sentences that refer to the one before."""

from __future__ import annotations

import pytest

from citewell.generator.pointing_back import points_back


@pytest.mark.parametrize(
    "text",
    [
        "They spout three times a minute.",
        "In 1910 he won a prize.",
        "Its length is 3 km.",
        "However, it is rare.",
    ],
)
def test_these_cannot_stand_alone(text: str) -> None:
    assert points_back(text)


@pytest.mark.parametrize(
    "text", ["Italy is long.", "Theseus met him.", "All whales of the south spout as they swim."]
)
def test_these_can(text: str) -> None:
    assert not points_back(text)
