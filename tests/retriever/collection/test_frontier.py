"""The queue of a crawl: nearest first, each URL once, and there again after an interruption."""

from __future__ import annotations

from pathlib import Path

from citewell.retriever.collection.embedded_frontier import EmbeddedFrontier
from citewell.retriever.collection.store import PageStore


def test_nearest_first_in_the_order_found_and_each_once(tmp_path: Path) -> None:
    frontier = EmbeddedFrontier(PageStore(tmp_path / "pages.db").database, "start")
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


def test_it_goes_on_until_it_has_ended(tmp_path: Path) -> None:
    database = PageStore(tmp_path / "pages.db").database
    EmbeddedFrontier(database, "start").settle({"start": "skipped", "landed": "read"}, ["next"], 0)
    again = EmbeddedFrontier(database, "start")
    assert again.next() == ("next", 1)
    assert again.site() == "landed"
    assert EmbeddedFrontier(database, "other").next() == ("other", 0)
    again.end()
    assert EmbeddedFrontier(database, "start").next() == ("start", 0)
    assert EmbeddedFrontier(database, "start").site() == "start"
