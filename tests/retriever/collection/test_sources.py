"""Sources: what is read, under which URL, and what is said about the rest."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.core.types import Failure
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import Skipped, SourceDocument, read_source


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_a_folder_gives_the_files_of_every_kind_in_a_stable_order(tmp_path: Path) -> None:
    readable = ("b.md", "a.html", "sub/c.TXT", "sub/deep/d.pdf", "e.htm", "f.xhtml", "g.csv.gz", "h.DOCX")
    for name in readable:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    for name in ("picture.png", ".hidden.md", ".git/notes.md", "archive.gz", "no-suffix"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"not to be read")
    found = list(read_source(tmp_path))
    documents = [document for document in found if isinstance(document, SourceDocument)]
    names = [document.url.removeprefix(f"{tmp_path.as_uri()}/") for document in documents]
    assert names == sorted(readable)
    assert [document.body.decode() for document in documents] == names
    skipped = [each for each in found if isinstance(each, Skipped)]
    assert [(each.url.rpartition("/")[2], each.reason) for each in skipped] == [
        ("archive.gz", ".gz files are not read"),
        ("no-suffix", "files without a suffix are not read"),
        ("picture.png", ".png files are not read"),
    ]


def test_a_single_file_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    file = tmp_path / "café notes.log"
    file.write_text("notes")
    [document] = read_source(file)
    assert document == SourceDocument(f"{tmp_path.as_uri()}/caf%C3%A9%20notes.log", b"notes")


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz"])
def test_lines_are_pages_with_html_or_text_and_url_or_path(tmp_path: Path, name: str) -> None:
    body = lines(
        {"url": "https://a.example/1", "title": "One", "html": "<p>é</p>", "text": "not this"},
        {"path": "wp/a/Africa.htm", "text": "plain"},
    )
    (tmp_path / name).write_bytes(gzip.compress(body) if name.endswith(".gz") else body + b"\n  \n")
    assert list(read_source(tmp_path / name)) == [
        SourceDocument("https://a.example/1", "<p>é</p>".encode(), "text/html; charset=utf-8", "One"),
        SourceDocument("wp/a/Africa.htm", b"plain", "text/plain; charset=utf-8", ""),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"url": "https://a.example/", "text": ', "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b'{"text": "x"}', "no `url`"),
        (b'{"url": 5, "text": "x"}', "no `url`"),
        (b'{"url": "", "text": "x"}', "no `url`"),
        (b'{"url": "https://a.example/", "text": null}', "neither `html` nor `text`"),
    ],
)
def test_a_broken_line_is_reported_by_its_number_and_the_others_are_read(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    good = lines({"url": "https://a.example/good", "text": "good"})
    file = tmp_path / "pages.jsonl"
    file.write_bytes(good + line + b"\n" + good)
    first, failure, last = read_source(file)
    assert isinstance(first, SourceDocument)
    assert first == last
    assert isinstance(failure, Failure)
    assert failure.url == f"{file}:2"
    assert reason in failure.reason


def test_half_a_character_in_json_spoils_nothing(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(lines({"url": "https://a.example/\ud800", "title": "T\udc00", "text": "x\ud800"}))
    assert list(read_source(file)) == [
        SourceDocument("https://a.example/?", b"x?", "text/plain; charset=utf-8", "T?")
    ]


def test_a_truncated_gzip_gives_what_can_be_read_and_says_so(tmp_path: Path) -> None:
    rows = [{"url": f"https://a.example/{n}", "text": os.urandom(500).hex()} for n in range(200)]
    file = tmp_path / "pages.jsonl.gz"
    whole = gzip.compress(lines(*rows))
    file.write_bytes(whole[: len(whole) // 2])
    *documents, failure = read_source(file)
    assert 0 < len(documents) < 200
    assert all(isinstance(document, SourceDocument) for document in documents)
    assert isinstance(failure, Failure)
    assert failure.url == f"{file}:{len(documents) + 1}"
    assert "cannot be read any further" in failure.reason


def test_a_gzip_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl.gz"
    file.write_bytes(b"plain text")
    [failure] = read_source(file)
    assert isinstance(failure, Failure)
    assert "cannot be read any further" in failure.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_rights(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("secret")
    (tmp_path / "a.md").chmod(0)
    assert list(read_source(tmp_path)) == [
        Failure(f"{tmp_path.as_uri()}/a.md", "the file cannot be read: Permission denied")
    ]


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing does not exist"):
        list(read_source(tmp_path / "missing"))
    (tmp_path / "picture.png").write_bytes(b"x")
    with pytest.raises(InputError, match=r"has no files of the types \.html, .*\.jsonl"):
        list(read_source(tmp_path))


def test_what_a_folder_holds_beside_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("a")
    (tmp_path / "elsewhere").symlink_to(tmp_path / "notes", target_is_directory=True)
    (tmp_path / "gone.md").symlink_to(tmp_path / "nothing.md")
    os.mkfifo(tmp_path / "pipe.md")
    found = list(read_source(tmp_path))
    assert [(each.url.rpartition("/")[2], each.reason) for each in found if isinstance(each, Skipped)] == [
        ("elsewhere", "links to folders are not followed"),
        ("gone.md", "a link to a file that does not exist"),
        ("pipe.md", "it is not a regular file"),
    ]
    assert [each.body for each in found if isinstance(each, SourceDocument)] == [b"a"]
    with pytest.raises(InputError, match="neither a file nor a folder"):
        list(read_source(tmp_path / "pipe.md"))


def test_a_folder_that_cannot_be_read_is_told_and_takes_no_page_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    scan = os.scandir

    def closed(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))  # the tests may run as root
        return scan(path)

    with indexing(EmbeddedCatalog(tmp_path / "data"), "notes") as indexer:
        assert index_documents(indexer, "notes", read_source(tmp_path)).added == 2
        monkeypatch.setattr(os, "scandir", closed)
        report = index_documents(indexer, "notes", read_source(tmp_path))
    assert report.failures == [
        Failure(str(tmp_path / "closed"), "the folder cannot be read: Permission denied")
    ]
    assert (report.removed, report.unchanged) == (0, 1)


def test_the_ending_of_lines_may_have_capitals(tmp_path: Path) -> None:
    (tmp_path / "UP.JSONL").write_bytes(lines({"url": "https://a.example/1", "text": "one"}))
    assert [each.url for each in read_source(tmp_path)] == ["https://a.example/1"]
