"""What pages promise: more for a better snippet and place, less the better the references so far are."""

from __future__ import annotations

from citewell.retriever.expected_references import promise


def test_a_better_snippet_promises_more() -> None:
    assert 0 < promise(0.2, 3, 0.5) < promise(0.5, 3, 0.5) < promise(0.9, 3, 0.5) < 3


def test_a_better_place_promises_more() -> None:
    assert promise(0.6, 0, 0.5) > promise(0.6, 1, 0.5) > promise(0.6, 9, 0.5)


def test_good_references_leave_less_to_hope_for() -> None:
    assert promise(0.6, 3, 0.8) < promise(0.6, 3, 0.4)


def test_while_references_are_missing_every_page_is_wanted() -> None:
    assert promise(-1.0, 9, None) == promise(1.0, 0, None) == 3
