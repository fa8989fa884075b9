"""The store: pages survive, and it knows what the index has yet to learn."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from citewell.core.types import Page, Passage
from citewell.retriever.collection.store import PageStore

_BEFORE_DATES = """
CREATE TABLE pages (
    url TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    title TEXT NOT NULL,
    passages TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('new', 'indexed', 'gone'))
) WITHOUT ROWID;
"""


def page(url: str, *texts: str, date: str = "") -> Page:
    passages = tuple(Passage(url, f"Title of {url}", text, ("History", "19th century")) for text in texts)
    return Page(url, f"Title of {url}", passages, date=date)


@pytest.fixture
def store(tmp_path: Path) -> PageStore:
    return PageStore(tmp_path / "pages.db")


def test_a_page_comes_back_as_it_was_put(store: PageStore, tmp_path: Path) -> None:
    pages = [
        page("https://a.example/", "One.", "Zwei 鯨 \0 \U0001f40b"),
        page("b", "Other.", date="2024-05-06"),
    ]
    report = Passage("report.pdf", "Report", "Found.", ("Results",), page_number=12)
    pages.append(Page("report.pdf", "Report", (report,)))
    store.put("source", [(p, "digest") for p in pages])
    store.close()
    again = PageStore(tmp_path / "pages.db")
    assert [again.page(p.url) for p in pages] == pages
    assert again.page("https://a.example/unknown") is None
    assert again.count() == 3


def test_what_the_index_has_yet_to_learn(store: PageStore) -> None:
    one, two = page("one", "1"), page("two", "2")
    store.put("source", [(one, "d1"), (two, "d2")])
    assert sorted(store.unindexed(), key=str) == [(one, False), (two, False)]
    store.mark_indexed()
    assert list(store.unindexed()) == []
    store.put("source", [(page("one", "new"), "d3")])
    store.drop("two")
    assert sorted(store.unindexed(), key=str) == [(page("one", "new"), False), (two, True)]
    assert store.page("two") is None
    assert store.digests() == {"one": "d3"}
    store.mark_indexed()
    assert list(store.unindexed()) == []
    store.mark_all_new()
    assert list(store.unindexed()) == [(page("one", "new"), False)]


def test_forgetting_is_for_one_source(store: PageStore) -> None:
    store.put("mine", [(page("a", "1"), "d"), (page("b", "2"), "d")])
    store.put("yours", [(page("c", "3"), "d")])
    assert store.sources() == ["mine", "yours"]
    assert store.urls("mine") == ["a", "b"]
    assert store.forget("mine", keep={"a"}) == ["b"]
    assert sorted(store.digests()) == ["a", "c"]
    assert store.forget("mine", keep={"a"}) == []
    assert store.forget("mine", keep=set()) == ["a"]
    assert store.sources() == ["yours"]


def test_a_page_that_was_dropped_can_come_back(store: PageStore) -> None:
    store.put("source", [(page("a", "old"), "d1")])
    store.drop("a")
    store.put("source", [(page("a", "new"), "d2")])
    store.mark_indexed()
    assert store.page("a") == page("a", "new")


def test_two_connections_see_each_other(store: PageStore, tmp_path: Path) -> None:
    reader = PageStore(tmp_path / "pages.db")
    store.put("source", [(page("a", "1"), "d")])
    assert reader.page("a") == page("a", "1")


def test_a_store_that_kept_no_dates_goes_on_and_learns_them(tmp_path: Path) -> None:
    file = tmp_path / "pages.db"
    with closing(sqlite3.connect(file)) as old:
        old.executescript(_BEFORE_DATES)
        old.execute("INSERT INTO pages VALUES ('a', 'source', 'd', 'Title of a', '[[\"1\"]]', 'indexed')")
        old.commit()
    at_once = Barrier(4)

    def open_store(_: int) -> PageStore:
        at_once.wait()
        return PageStore(file)

    with ThreadPoolExecutor(4) as pool:
        reader, writer, *_ = pool.map(open_store, range(4))
    found = reader.page("a")
    assert found is not None
    assert (found.title, found.passages[0].text, found.date) == ("Title of a", "1", "")
    assert writer.digests() == {"a": "d"}
    writer.put("source", [(page("a", "1", date="2024-05-06"), "e")])
    assert reader.page("a") == page("a", "1", date="2024-05-06")
