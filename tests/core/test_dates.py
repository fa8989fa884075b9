"""Days in text, in the ways in which people write them."""

from __future__ import annotations

import pytest

from citewell.core.dates import Day, days, spelled_dates

NINTH, OF_2026 = Day(None, 11, 9), Day(2026, 11, 9)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What was the pressure on 9 November?", {NINTH}),
        ("what was it on november 9", {NINTH}),
        ("Nov. 9th, 2026: descaled", {OF_2026}),
        ("the 9th of November 2026", {OF_2026}),
        ("2026-11-09 07:10 boiler 1.4 bar", {OF_2026}),
        ("On 9.11.2026, we met.", {OF_2026}),
        ("Mon 9 Nov and Tue 10 Nov", {NINTH, Day(None, 11, 10)}),
        ("1 May", {Day(None, 5, 1)}),
        ("May 1, 1886", {Day(1886, 5, 1)}),
        ("from 2 to 9 Sept", {Day(None, 9, 9)}),
        ("up to 40 people may 12 times march 30 miles", set()),
        ("32 November, 0 March, 2026-13-01, 9/11/2026, release 9.11.2, 1.2.3.2004", set()),
        ("November 2026", set()),
        ("in the year 2026", set()),
    ],
)
def test_days_are_found(text: str, found: set[Day]) -> None:
    assert days(text) == found


def test_a_day_without_a_year_may_be_that_of_any() -> None:
    assert NINTH.may_be(OF_2026)
    assert OF_2026.may_be(NINTH)
    assert not OF_2026.may_be(Day(2025, 11, 9))
    assert not NINTH.may_be(Day(2026, 9, 11))


def test_dates_in_digits_are_spelled_and_the_rest_stays() -> None:
    text = "2026-11-09 07:10, 9.11.2026 and 9 Nov: 1.4 bar, see 2026-11 and 2026-99-09"
    expected = "9 November 2026 07:10, 9 November 2026 and 9 Nov: 1.4 bar, see 2026-11 and 2026-99-09"
    assert spelled_dates(text) == expected
