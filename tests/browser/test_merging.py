"""Repeated single scrolls become the longer ones that only models may give (WebGPT, appendix C.1)."""

from __future__ import annotations

import pytest

from citewell.browser.merging import merge_scrolls

DOWN, UP = "Scrolled down 1", "Scrolled up 1"


@pytest.mark.parametrize(
    ("given", "merged"),
    [
        ([], []),
        ([DOWN], [DOWN]),
        ([DOWN, DOWN], ["Scrolled down 2"]),
        ([DOWN] * 7, ["Scrolled down 3", "Scrolled down 3", DOWN]),
        ([DOWN, UP, UP], [DOWN, "Scrolled up 2"]),
        ([DOWN, "Top", DOWN], [DOWN, "Top", DOWN]),
        ([DOWN, "Scrolled sideways", DOWN], [DOWN, "Scrolled sideways", DOWN]),
        (["Scrolled down 2", DOWN], ["Scrolled down 2", DOWN]),
        ([f" {DOWN}\n", DOWN], ["Scrolled down 2"]),
        (["Search crows", DOWN, DOWN, "Quote: a"], ["Search crows", "Scrolled down 2", "Quote: a"]),
    ],
)
def test_single_scrolls_in_one_direction_are_merged_up_to_three(given: list[str], merged: list[str]) -> None:
    found = merge_scrolls(given)
    assert [each.command for each in found] == merged
    assert sum(each.given for each in found) == len(given)
