"""What is expected of pages: more for a better snippet, less the better the references so far are."""

from __future__ import annotations

from citewell.retriever.expected_references import expected_references as expected


def test_more_is_expected_of_a_better_snippet() -> None:
    assert 0 < expected(0.2, 3, 0.5) < expected(0.5, 3, 0.5) < expected(0.9, 3, 0.5) < 3


def test_more_is_expected_of_a_better_position() -> None:
    assert expected(0.6, 0, 0.5) > expected(0.6, 1, 0.5) > expected(0.6, 9, 0.5)


def test_good_references_leave_less_to_expect() -> None:
    assert expected(0.6, 3, 0.8) < expected(0.6, 3, 0.4)


def test_every_page_is_wanted_while_references_are_missing() -> None:
    assert expected(-1.0, 9, None) == expected(1.0, 0, None) == 3
