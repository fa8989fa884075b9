"""Damaged files and full disks: a clear error that says what to do, and doing it helps."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.core.errors import CollectionError
from citewell.retriever.collection.store import PageStore

if TYPE_CHECKING:
    from conftest import Library

TEXTS = {f"https://a.example/{n}": f"Whale {n}\n\nPage unique{n:03} is about whales." for n in range(200)}

Damage = Callable[[Path], None]


def cut(pattern: str, length: int) -> Damage:
    def damage(folder: Path) -> None:
        for file in folder.glob(pattern):
            file.write_bytes(file.read_bytes()[:length])

    return damage


def scratch(pattern: str) -> Damage:
    """Overwrite the beginning, and leave the footer, which holds the checksum, as it is."""

    def damage(folder: Path) -> None:
        for file in folder.glob(pattern):
            body = file.read_bytes()
            length = min(len(body) // 2, 40)
            file.write_bytes(b"\xab" * length + body[length:])

    return damage


def delete(pattern: str) -> Damage:
    def damage(folder: Path) -> None:
        for file in folder.glob(pattern):
            file.unlink()

    return damage


@pytest.fixture
def damaged(library: Library) -> Callable[[Damage], None]:
    def apply(damage: Damage) -> None:
        library.index(TEXTS)
        before = {file: file.read_bytes() for file in (library.folder / "index").iterdir()}
        damage(library.folder / "index")
        after = {file: file.read_bytes() for file in (library.folder / "index").iterdir()}
        assert before != after, "nothing was damaged"

    return apply


@pytest.mark.parametrize(
    "damage",
    [cut("meta.json", 0), cut("meta.json", 100), cut(".managed.json", 0)]
    + [cut(f"*.{kind}", 10) for kind in ("store", "term", "idx", "fast", "fieldnorm", "pos")]
    + [delete(f"*.{kind}") for kind in ("store", "term", "idx", "fast", "fieldnorm", "pos")],
)
async def test_a_damaged_index_is_named_and_rebuilt(
    library: Library, damaged: Callable[[Damage], None], damage: Damage
) -> None:
    damaged(damage)
    with pytest.raises(CollectionError, match="index --collection shelf --rebuild"):
        await library.search("whales")
    with pytest.raises(CollectionError, match="index --collection shelf --rebuild"):
        library.index({**TEXTS, "https://a.example/0": "Whale 0\n\nAnother text about whales."})
    with library.indexing(rebuild=True):
        pass
    assert await library.search("unique123") == ["https://a.example/123"]
    assert library.indexed_passages() == library.stored_passages() == 200


@pytest.mark.parametrize("kind", ["store", "fast"])
async def test_damage_that_shows_only_when_it_is_read(
    library: Library, damaged: Callable[[Damage], None], kind: str
) -> None:
    damaged(scratch(f"*.{kind}"))
    with pytest.raises(CollectionError, match="index --collection shelf --rebuild"):
        await library.search("whales")
    with library.indexing(rebuild=True):
        pass
    assert await library.search("unique123") == ["https://a.example/123"]


async def test_an_index_that_is_gone(library: Library) -> None:
    library.index(TEXTS)
    for file in (library.folder / "index").iterdir():
        file.unlink()
    with pytest.raises(CollectionError, match=r"no search index.*--rebuild"):
        library.open()
    with library.indexing():  # any run builds it
        pass
    assert library.indexed_passages() == 200
    assert await library.search("unique123") == ["https://a.example/123"]


def test_a_rebuild_that_was_interrupted_is_made_up_for(library: Library) -> None:
    library.index(TEXTS)
    store = PageStore(library.folder / "pages.db")
    store.mark_all_new()  # as far as a rebuild comes before its first commit
    store.close()
    shutil.rmtree(library.folder / "index")
    with library.indexing():
        pass
    assert library.indexed_passages() == 200


def read_all(library: Library) -> None:
    store = library.open().store
    for url in store.digests():
        store.read([url])


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: b"not a database at all, but some text" * 300,
        lambda body: body[: len(body) // 2],
        lambda body: body[:100],
        lambda body: body[:4096] + b"\xab" * (len(body) - 4096),
        lambda body: body.replace(b'is about whales."]', b'is about \xff\xfe\xfd."]'),
        lambda body: body.replace(b'[["Whale', b"[[{Whale"),
    ],
    ids=["text", "half", "header", "noise after the first page", "no UTF-8", "no JSON"],
)
def test_damaged_pages_say_what_to_do(library: Library, damage: Callable[[bytes], bytes]) -> None:
    library.index(TEXTS)
    file = library.folder / "pages.db"
    body = file.read_bytes()
    assert damage(body) != body
    file.write_bytes(damage(body))
    with pytest.raises(CollectionError) as caught:
        read_all(library)
    assert "are damaged" in caught.value.message
    assert caught.value.hint == f"Delete {library.folder} and index its sources again."


def test_a_database_of_something_else(library: Library) -> None:
    library.folder.mkdir(parents=True)
    with sqlite3.connect(library.folder / "pages.db") as other:
        other.execute("CREATE TABLE pages (name TEXT)")
    with pytest.raises(CollectionError, match="damaged"):
        library.indexing().__enter__()


@pytest.mark.parametrize("largest_file", [0, 4096, 50_000, 200_000])
async def test_a_full_disk(
    library: Library,
    tmp_path: Path,
    command: Callable[..., list[str]],
    environment: dict[str, str],
    largest_file: int,
) -> None:
    source = tmp_path / "pages.jsonl"
    rows = [{"url": url, "text": text + " Some more words to store." * 40} for url, text in TEXTS.items()]
    source.write_text("\n".join(map(json.dumps, rows)))
    arguments = command("index_slowly.py", library.place, source, 0)
    full = subprocess.run([*arguments, str(largest_file)], env=environment, capture_output=True, text=True)
    last = full.stdout.splitlines()[-1]
    assert (full.returncode, full.stderr) == (1, "")
    assert last.startswith("CollectionError The ")
    assert "Check the free space" in last
    again = subprocess.run(arguments, env=environment, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert library.open().store.count() == 200
    assert library.indexed_passages() == library.stored_passages()
    assert await library.search("unique123") == ["https://a.example/123"]


async def test_a_disk_that_is_full_for_the_index_alone(
    library: Library, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Pages that are stored already are indexed as soon as there is space."""
    script = tmp_path / "commit.py"
    script.write_text(
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from citewell.core.errors import CollectionError\n"
        "from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog\n"
        "try:\n"
        "    with EmbeddedCatalog(Path(sys.argv[1])).writing('shelf') as store:\n"
        "        store.pages.mark_all_new()\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "        store.commit()\n"
        "except CollectionError as error:\n"
        "    print(error)\n"
    )
    library.index(TEXTS)
    run = subprocess.run(
        [sys.executable, script, library.data_dir], env=environment, capture_output=True, text=True
    )
    # Which of the two is said depends on which of Tantivy's threads meets the full disk.
    full = (
        "The index of the collection 'shelf' cannot be read or written: File too large. Check the free space"
    )
    ended = "The index of the collection 'shelf' cannot be used: An error occurred in a thread"
    assert run.stdout.startswith((full, ended))
    assert await library.search("unique123") == ["https://a.example/123"]
    with library.indexing():
        pass
    assert library.indexed_passages() == library.stored_passages() == 200


def test_pages_of_no_bytes_are_not_an_empty_collection(library: Library) -> None:
    library.index(TEXTS)
    (library.folder / "pages.db").write_bytes(b"")
    for suffix in ("-wal", "-shm"):
        (library.folder / f"pages.db{suffix}").unlink(missing_ok=True)
    for attempt in (library.open, lambda: library.index(TEXTS)):
        with pytest.raises(
            CollectionError, match=r"pages.db is empty. Delete .* and index its sources again"
        ):
            attempt()
    shutil.rmtree(library.folder)
    assert library.index(TEXTS).added == len(TEXTS)


def test_a_first_run_that_was_killed_at_once_is_repeated(library: Library) -> None:
    library.folder.mkdir(parents=True)
    (library.folder / "pages.db").touch()
    assert library.index(TEXTS).added == len(TEXTS)


def test_a_data_folder_is_of_its_user_alone(library: Library) -> None:
    """Even the names of collections may be nobody else's business."""
    library = replace(library, data_dir=library.data_dir / "new" / "data")
    before = os.umask(0)
    try:
        library.index(TEXTS)
    finally:
        os.umask(before)
    for folder in (library.folder, library.folder.parent, library.data_dir):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
