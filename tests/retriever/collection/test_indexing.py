"""Indexing runs: what changed is read again, what is gone is forgotten, what failed is kept and reported."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.core.errors import CollectionError
from citewell.core.types import Failure
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import Report, index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument, read_source
from citewell.retriever.extract.sandbox import SandboxLimits

if TYPE_CHECKING:
    from conftest import Library


@pytest.fixture
def library(either: Library) -> Library:
    return either


def index(library: Library, source: Path) -> Report:
    with library.indexing() as indexer:
        return index_documents(indexer, str(source), read_source(source))


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "aardvark.md").write_text("# Aardvark\n\nIt digs for termites at night with its claws.\n")
    (folder / "bison.md").write_text("# Bison\n\nIt grazes on the prairie in very large herds.\n")
    return folder


async def test_only_what_changed_is_read_again(library: Library, notes: Path) -> None:
    assert counts(index(library, notes)) == (2, 0, 0, 0)
    assert counts(index(library, notes)) == (0, 0, 2, 0)
    (notes / "bison.md").write_text("# Bison\n\nIt was nearly exterminated by hunters on horseback.\n")
    assert counts(index(library, notes)) == (0, 1, 1, 0)
    assert await library.search("prairie herds") == []
    assert await library.search("hunters") == [(notes / "bison.md").as_uri()]
    assert library.indexed_passages() == library.stored_passages() == 2


def test_the_date_of_a_page_is_kept(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "aardvark.html"
    file.write_text(
        '<html><head><title>Aardvark</title><meta property="article:published_time" '
        'content="2024-05-06T07:08:09Z"></head>'
        "<body><article><h1>Aardvark</h1><p>It digs for termites at night with its strong claws, and "
        "sleeps in its burrow by day.</p></article></body></html>"
    )
    index(library, file)
    page = library.open().page(file.as_uri())
    assert page is not None
    assert (page.date, page.read) == ("2024-05-06", "")


def test_a_page_without_a_date_has_the_day_on_which_it_was_read(library: Library, notes: Path) -> None:
    index(library, notes)
    page = library.open().page((notes / "bison.md").as_uri())
    assert page is not None
    assert page.date == ""
    assert datetime.now(UTC).date() - date.fromisoformat(page.read) < timedelta(days=2)


async def test_a_file_that_is_removed_is_forgotten(library: Library, notes: Path) -> None:
    index(library, notes)
    (notes / "bison.md").unlink()
    assert counts(index(library, notes)) == (0, 0, 1, 1)
    assert await library.search("prairie") == []
    assert library.open().page((notes / "bison.md").as_uri()) is None
    assert library.indexed_passages() == 1


async def test_a_file_that_became_unreadable_keeps_its_page(library: Library, notes: Path) -> None:
    index(library, notes)
    (notes / "bison.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    report = index(library, notes)
    assert counts(report) == (0, 0, 1, 0)
    assert report.failures == [
        Failure((notes / "bison.md").as_uri(), "it is a binary file (PNG image)", "extract"),
    ]
    assert await library.search("prairie") == [(notes / "bison.md").as_uri()]


async def test_a_file_that_cannot_be_opened_keeps_its_page(library: Library, notes: Path) -> None:
    index(library, notes)
    url = (notes / "bison.md").as_uri()
    # What read_source yields without the rights to read; here it is said, because root may read all.
    documents = [document for document in read_source(notes) if document.url != url]
    with library.indexing() as indexer:
        failure = Failure(url, "the file cannot be read: Permission denied")
        report = index_documents(indexer, str(notes), [*documents, failure])
    assert counts(report) == (0, 0, 1, 0)
    assert report.failures == [failure]
    assert await library.search("prairie") == [url]


def test_a_truncated_file_forgets_nothing(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl.gz"
    rows = [{"url": f"https://a.example/{n}", "text": f"Page number {n}. " * 20} for n in range(300)]
    whole = gzip.compress("\n".join(map(json.dumps, rows)).encode())
    file.write_bytes(whole)
    assert counts(index(library, file)) == (300, 0, 0, 0)
    file.write_bytes(whole[: len(whole) // 2])
    report = index(library, file)
    assert report.removed == 0
    assert len(report.failures) == 1
    assert library.open().store.count() == 300


def test_of_two_documents_with_one_url_the_first_counts_every_time(library: Library) -> None:
    twice = [
        SourceDocument("https://a.example/", text.encode(), "text/plain")
        for text in ("The first text.", "The other.")
    ]
    for expected in ((1, 0, 0, 0), (0, 0, 1, 0)):
        with library.indexing() as indexer:
            report = index_documents(indexer, "source", twice)
        assert counts(report) == expected
        assert report.failures == [Failure("https://a.example/", "an earlier document has the same URL")]
    page = library.open().page("https://a.example/")
    assert page is not None
    assert page.passages[0].text == "The first text."


async def test_two_sources_in_one_run(library: Library) -> None:
    """A page that one source gives up and the other takes over is there at the end."""
    mine = SourceDocument("https://a.example/", b"A page about walruses.", "text/plain")
    other = SourceDocument("https://a.example/other", b"A page about otters.", "text/plain")
    with library.indexing() as indexer:
        index_documents(indexer, "first", [mine, other])
        assert index_documents(indexer, "first", [other]).removed == 1
        assert index_documents(indexer, "second", [mine]).added == 1
    assert await library.search("walruses") == ["https://a.example/"]


async def test_many_documents_in_worker_processes(library: Library) -> None:
    documents = [SourceDocument(f"u{n}", f"Page unique{n:04}.".encode(), "text/plain") for n in range(150)]
    documents.insert(70, SourceDocument("bad", b"", "text/plain"))
    seen: list[int] = []
    with library.indexing() as indexer:
        report = index_documents(
            indexer,
            "source",
            documents,
            sandbox=SandboxLimits(workers=2),
            on_progress=lambda report: seen.append(report.seen),
        )
    assert counts(report) == (150, 0, 0, 0)
    assert [failure.url for failure in report.failures] == ["bad"]
    assert seen[-1] == 151
    assert seen == sorted(seen)
    assert library.indexed_passages() == 150
    assert await library.search("unique0149") == ["u149"]


async def test_what_was_stored_before_a_failure_is_searchable_after_the_next_run(library: Library) -> None:
    def documents() -> Iterator[SourceDocument]:
        for n in range(100):
            yield SourceDocument(f"u{n}", f"Page unique{n:04}.".encode(), "text/plain")
        raise OSError("the network drive is gone")

    with pytest.raises(OSError, match="network drive"), library.indexing() as indexer:
        index_documents(indexer, "source", documents())
    with library.indexing():
        pass
    assert library.indexed_passages() == library.stored_passages()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CollectionError, match=r"is not writable: Not a directory.*CITEWELL_DATA_DIR"):
        indexing(EmbeddedCatalog(tmp_path / "file"), "shelf").__enter__()


async def test_a_page_that_never_ends_is_reported_and_the_run_goes_on(library: Library) -> None:
    endless = b"%PDF-1.4\n1 0 obj\n1 0 R\nendobj\ntrailer\n<< /Size 2 /Root 1 0 R >>\n%%EOF\n"
    documents = [SourceDocument(f"https://a.example/{n}", f"Page unique{n:03}.".encode()) for n in range(100)]
    documents.insert(50, SourceDocument("https://a.example/endless", endless))
    with library.indexing() as indexer:
        limits = SandboxLimits(workers=2, seconds=3.0)
        report = index_documents(indexer, "source", documents, sandbox=limits)
    assert report.added == 100
    assert report.failures == [
        Failure("https://a.example/endless", "reading it took longer than 3 s", "extract")
    ]
    assert await library.search("unique099") == ["https://a.example/99"]


def test_what_was_left_out_of_a_page_is_told(library: Library) -> None:
    values = b"[" + b",".join(b'{"n": %d}' % n for n in range(25_000)) + b"]"
    with library.indexing() as indexer:
        report = index_documents(indexer, "source", [SourceDocument("data.json", values)])
    assert (report.added, report.notices) == (1, ["data.json: only the beginning of its data was read"])
