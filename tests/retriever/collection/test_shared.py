"""A collection in PostgreSQL: processes with separate data folders fill and search it, and are killed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from citewell.core.errors import CollectionError
from citewell.core.types import Page, Passage
from citewell.retriever.collection.dense import updating
from citewell.retriever.collection.postgres.catalog import PostgresCatalog
from citewell.retriever.search.query import Query

if TYPE_CHECKING:
    from conftest import BagOfWords, Library

PAGES = 500  # more than one run claims before its first batch is stored
Start = Callable[..., subprocess.Popen[str]]
KITTEN = {"https://a.example/pet": "Pets\n\nThe cat sleeps on the sofa all day."}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    part = "In part {part} of the page unique{n:04}, whales sing, and other whales listen. " * 12
    texts = (
        "\n\n".join(part.format(part=part_number, n=n) for part_number in range(3)) for n in range(PAGES)
    )
    rows = [{"url": f"https://a.example/{n}", "text": text} for n, text in enumerate(texts)]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "pages.jsonl"


@pytest.fixture
def start(shared: Library, command: Callable[..., list[str]], environment: dict[str, str]) -> Iterator[Start]:
    started = []

    def run(script: str, *arguments: object) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                command(script, shared.url, *arguments),
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield run
    for process in started:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate(timeout=60)


def ended(process: subprocess.Popen[str]) -> list[int]:
    """The numbers of pages that a run added, changed, kept, removed and failed to read."""
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return [int(number) for number in output.splitlines()[-1].split()[1:]]


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    assert any(said.startswith(line) for said in process.stdout), f"it ended without {line}"


def halves(library: Library) -> int:
    """The number of pages that are not there with all their passages and words."""
    with psycopg.connect(library.url) as connection:
        [(number,)] = connection.execute(
            "SELECT count(*) FROM citewell_pages_1 WHERE json_array_length(passages::json) != "
            "(SELECT count(*) FROM citewell_passages_1 WHERE page = key)"
        ).fetchall()
    return int(number)


def assert_whole(library: Library) -> None:
    """Every page is there once, and the words of each passage are counted once."""
    assert library.open().store.count() == PAGES
    assert halves(library) == 0
    with psycopg.connect(library.url) as connection:
        [(counted,)] = connection.execute(
            "SELECT sum(bodies) FROM (SELECT * FROM citewell_terms_1 UNION ALL "
            "SELECT * FROM citewell_new_terms_1) AS counts WHERE term = 'whale'"
        ).fetchall()
    assert counted == library.indexed_passages() == library.stored_passages() > PAGES


async def test_a_killed_run_is_completed_while_another_process_searches(
    shared: Library, source: Path, start: Start
) -> None:
    run = start("index_slowly.py", source, 0.05)
    wait_for(run, "seen 64")
    reader = shared.open()
    while run.poll() is None and reader.store.count() < 128:
        assert halves(shared) == 0
        assert len(await reader.search(Query("whales", 50))) == 50
    run.kill()
    run.communicate(timeout=60)
    kept = reader.store.count()
    assert 128 <= kept < PAGES
    assert halves(shared) == 0
    assert ended(start("index_slowly.py", source, 0)) == [PAGES - kept, 0, kept, 0, 0]
    assert_whole(shared)
    assert [hit.url for hit in await reader.search(Query("unique0499", 1))] == ["https://a.example/499"]


async def test_runs_at_once_share_the_pages_of_a_source(shared: Library, source: Path, start: Start) -> None:
    first = start("index_slowly.py", source, "asks")
    wait_for(first, "seen 64")
    second = start("index_slowly.py", source, 0.05)
    wait_for(second, "seen")  # from here on, both read and write
    added = [ended(run)[0] for run in (first, second)]
    assert sum(added) == PAGES
    assert min(added) > 0
    assert_whole(shared)


async def test_a_killed_searcher_harms_nobody(shared: Library, source: Path, start: Start) -> None:
    run = start("index_slowly.py", source, 0.05)
    wait_for(run, "seen 64")
    searcher = start("search_forever.py", "whales")
    wait_for(searcher, "found")
    searcher.kill()
    assert ended(run)[0] == PAGES
    assert_whole(shared)


async def test_runs_that_encode_at_once_encode_each_page_once(
    shared: Library, bag: BagOfWords, start: Start
) -> None:
    shared.shelve({f"https://a.example/{n}": f"Page {n}\n\nText number {n} of many." for n in range(1500)})
    killed = start("encode_slowly.py")
    wait_for(killed, "512")
    first, second = (start("encode_slowly.py") for _ in range(2))
    killed.kill()
    numbers = [list(map(int, run.communicate(timeout=60)[0].split())) for run in (first, second)]
    encoded = sum(max(number, default=0) for number in numbers)
    assert 0 < encoded <= 1500 - 512  # what the first had stored, they leave as it is
    assert shared.open_dense(bag).notices(Query("q")) == []
    assert shared.encode(bag).passages == 0
    found = await shared.open_dense(bag).search(Query("Text number", 50))
    assert len(found) == 50


async def test_vectors_find_other_words(shared: Library, bag: BagOfWords) -> None:
    shared.shelve(KITTEN)
    shared.encode(bag)
    [hit] = await shared.open_dense(bag).search(Query("kitten", 3))
    assert hit.snippet == "The cat sleeps on the sofa all day."
    with shared.indexing() as indexer:
        indexer.store.set_dense(False)
    assert await shared.open_dense(bag).search(Query("kitten", 3)) == []


async def test_a_rebuild_keeps_everything(shared: Library, bag: BagOfWords) -> None:
    shared.shelve(KITTEN)
    shared.encode(bag)
    with psycopg.connect(shared.url) as connection:
        connection.execute("DELETE FROM citewell_passages_1")
    assert await shared.search("cat") == []
    assert shared.encode(bag, repair=True).passages == 0
    assert await shared.search("cat") == ["https://a.example/pet"]


def test_pages_with_odd_characters(shared: Library) -> None:
    url = "https://a.example/" + "x" * 5000
    page = Page(url, "Zwei 鯨", (Passage(url, "Zwei 鯨", "It's \\ a 'quoted' 鯨 \0 \U0001f40b, isn't it?"),))
    with shared.catalog.writing("shelf") as store:
        store.put("a \0 source", [(page, "digest")])
        assert store.read([url]) == {url: page}
        assert store.forget("a \0 source", {url}) == []
        assert [hit.url for hit in store.search("quoted 鯨", 5)] == [url]
        assert store.drop(url)
        assert not store.drop(url)
        assert store.search("quoted", 5) == []


def test_collections_do_not_mix(shared: Library, bag: BagOfWords) -> None:
    shared.shelve(KITTEN)
    shared.encode(bag)
    with shared.catalog.writing("other") as store:
        page = Page("b", "B", (Passage("b", "B", "A dog sleeps, too."),))
        store.put("source", [(page, "digest")])
        with pytest.raises(CollectionError, match="Another run is writing the collection 'other'"):
            shared.catalog.remove("other")
    before = shared.catalog.version("shelf")
    assert shared.catalog.names() == ["other", "shelf"]
    assert [hit.url for hit in shared.catalog.open("shelf").search("sleeps", 5)] == [*KITTEN]
    old = shared.catalog.open("other")
    shared.catalog.remove("other")
    assert shared.catalog.names() == ["shelf"]
    assert shared.catalog.version("shelf") == before
    assert shared.catalog.version("other") is None
    with pytest.raises(CollectionError, match="no longer exists"):
        old.search("dog", 5)


def test_the_version_changes_with_the_pages(shared: Library) -> None:
    shared.shelve(KITTEN)
    first = shared.catalog.version("shelf")
    shared.shelve(KITTEN)
    assert shared.catalog.version("shelf") == first
    shared.shelve(KITTEN | {"b": "Dogs\n\nThe dog barks."})
    second = shared.catalog.version("shelf")
    assert first
    assert second
    assert (first.identity, first.content) != (second.identity, second.content)
    assert first.identity == second.identity


async def test_a_server_that_was_restarted_is_connected_to_again(shared: Library, bag: BagOfWords) -> None:
    shared.shelve(KITTEN)
    shared.encode(bag)
    collection = shared.open_dense(bag)
    with psycopg.connect(shared.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid != pg_backend_pid() AND datname = 'tests'"
        )
    assert (await collection.search(Query("A kitten?", 1)))[0].url == "https://a.example/pet"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda url: "postgresql://me:s3cret@127.0.0.1:1/none", "PostgreSQL at 127.0.0.1:1.*cannot be used"),
        (lambda url: "s3cret", "not a PostgreSQL URL"),
        (lambda url: url.replace("/tests?", "/absent?"), 'database "absent" does not exist'),
        (lambda url: f"{url}&options=-c%20extension_control_path%3D/nowhere", "has no pgvector.*Install it"),
        (lambda url: url.replace("postgres:@", "nobody:@"), "denied permission.*create tables"),
    ],
)
def test_a_database_that_cannot_be_used(
    database: str, bag: BagOfWords, change: Callable[[str], str], message: str
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS nobody")
        connection.execute("CREATE ROLE nobody LOGIN")

    def use() -> None:
        with PostgresCatalog(change(database)).writing("shelf") as store, updating(store, bag):
            pass

    with pytest.raises(CollectionError, match=message) as error:
        use()
    assert "s3cret" not in str(error.value) + repr(error.value.__cause__) + repr(error.value.hint)


def test_tables_of_another_version(shared: Library) -> None:
    shared.shelve(KITTEN)
    with psycopg.connect(shared.url) as connection:
        connection.execute("UPDATE citewell_schema SET version = 99")
    for use in (shared.open, shared.catalog.names, shared.indexing().__enter__):
        with pytest.raises(CollectionError, match=r"have version 99 .* reads version 1"):
            use()
