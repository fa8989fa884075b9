"""References are few of one page, shared among the parts of a question, and each adds something."""

from __future__ import annotations

from citewell.core.types import Passage
from citewell.retriever.choosing import Chosen, OrderedPassage, WordSets, choose

SHORT = "Bats hunt by echo."
LONGER = "Bats hunt by echo, sleep all day in caves, and eat moths, fruit or nectar."


def passage(row: int, value: float, page: str, text: str = "") -> OrderedPassage:
    return OrderedPassage(row, value, Passage(f"https://{page}.example/", "", text or f"passage{row}"))


def rows(chosen: list[Chosen]) -> list[int]:
    return [each.row for each in chosen]


def test_what_is_left_after_the_shares_goes_to_the_best_of_all() -> None:
    one = [passage(0, 0.9, "a"), passage(1, 0.8, "b"), passage(2, 0.3, "c")]
    two = [passage(3, 0.7, "d"), passage(4, 0.6, "e"), passage(5, 0.5, "f")]
    whole = [passage(6, 0.4, "g")]
    assert choose([one, two, whole], 2, 5, WordSets())[-1] == Chosen(5, 1)
    whole = [passage(6, 0.95, "g")]
    assert choose([one, two, whole], 2, 5, WordSets())[-1] == Chosen(6, 2)


def test_what_is_left_goes_to_other_pages_first() -> None:
    one = [passage(0, 0.9, "a"), passage(1, 0.8, "a"), passage(2, 0.7, "a")]
    two = [passage(3, 0.6, "b"), passage(4, 0.5, "a"), passage(5, 0.4, "a"), passage(6, 0.1, "c")]
    assert rows(choose([one, two, []], 2, 5, WordSets())) == [0, 3, 1, 4, 6]
    assert rows(choose([one, two[:-1], []], 2, 5, WordSets())) == [0, 3, 1, 4, 2]


def test_a_passage_whose_words_are_in_a_chosen_one_is_left_out() -> None:
    longer, short = passage(0, 0.9, "a", LONGER), passage(1, 0.8, "b", SHORT)
    assert rows(choose([[longer, short]], 1, 5, WordSets())) == [0]


def test_a_passage_that_says_more_than_a_chosen_one_is_a_reference_too() -> None:
    short, longer = passage(0, 0.9, "a", SHORT), passage(1, 0.8, "b", LONGER)
    assert rows(choose([[short, longer]], 1, 5, WordSets())) == [0, 1]
