"""Places are shared fairly between keys."""

from __future__ import annotations

import pytest

from citewell.server.work.turns import full_share


@pytest.mark.parametrize(("number", "most"), [(2, 1), (3, 2), (7, 6), (8, 7), (34, 30)])
def test_a_single_key_leaves_a_place_to_the_next_one(number: int, most: int) -> None:
    assert full_share("a", ["a"] * (most - 1), number) == 0
    assert full_share("a", ["a"] * most, number) == most
    assert full_share("b", ["a"] * most, number) == 0


def test_the_only_place_is_taken_by_the_first_key_and_requests_without_a_key_are_not_limited() -> None:
    assert full_share("a", [], 1) == 0
    assert full_share(None, [None] * 7, 7) == 0


def test_keys_that_have_places_get_as_many_as_each_other() -> None:
    assert full_share("a", ["a", "a", "b"], 6) == 0
    assert full_share("a", ["a", "a", "a", "b"], 6) == 3
