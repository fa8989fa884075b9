"""The queue of a crawl: nearest first, each URL once, and there again after an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.retriever.collection.frontier import Frontier

if TYPE_CHECKING:
    from conftest import Library


def test_nearest_first_in_the_order_found_and_each_once(either: Library) -> None:
    with either.catalog.writing("shelf") as store:
        _check_order(store.frontier("start"))


def _check_order(frontier: Frontier) -> None:
    assert frontier.next() == ("start", 0)
    frontier.settle({"start": "read"}, ["z", "a", "z", "start"], 0)
    assert frontier.next() == ("z", 1)
    frontier.settle({"z": "failed"}, ["deeper", "a"], 1)
    assert frontier.next() == ("a", 1)
    frontier.settle({"a": "skipped", "b": "gone"}, [], 1)
    assert frontier.next() == ("deeper", 2)
    frontier.settle({"deeper": "read"}, [], 2)
    assert frontier.next() is None
    assert frontier.visits() == 4  # not the one that was skipped
    assert frontier.urls("read") == {"start", "deeper"}
    assert frontier.is_settled("b")
    assert not frontier.is_settled("unheard of")


def test_it_goes_on_until_it_has_ended(either: Library) -> None:
    with either.catalog.writing("shelf") as store:
        store.frontier("start").settle({"start": "skipped", "landed": "read"}, ["next"], 0)
    with either.catalog.writing("shelf") as store:
        again = store.frontier("start")
        assert again.next() == ("next", 1)
        assert again.site() == "landed"
        assert store.frontier("other").next() == ("other", 0)
        again.end()
        assert store.frontier("start").next() == ("start", 0)
        assert store.frontier("start").site() == "start"
