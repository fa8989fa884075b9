"""The cache on disk: its bound, several processes, damage, and sudden death."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from citewell.retriever.fetch.cache.disk import DiskStore
from citewell.retriever.fetch.cache.store import CacheError

from .entries import SOON, entry

WRITER = Path(__file__).with_name("write_forever.py")
MOST_BYTES = 2_000_000


def size(folder: Path) -> int:
    return (folder / "pages.db").stat().st_size


def start_writer(folder: Path, first: int, size: int, most_bytes: int = MOST_BYTES) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, WRITER, folder, str(first), str(size), str(most_bytes)],
        stdout=subprocess.PIPE,
        text=True,
    )


async def all_entries(store: DiskStore) -> int:
    """Read what is there, all of which must be whole, and count it."""
    loaded = await asyncio.gather(*(store.load(str(number)) for number in range(500)))
    return sum(found is not None for found in loaded)


async def test_what_is_stored_is_there_for_the_next_process(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "new", MOST_BYTES, MOST_BYTES, pytest.fail)
    assert await store.load("a") is None
    await store.save("a", entry(body=b"old"), SOON)
    await store.save("a", entry(body=b"new"), SOON)
    await store.save("b", entry(), SOON)
    await store.remove("b")
    await store.close()
    store = DiskStore(tmp_path / "new", MOST_BYTES, MOST_BYTES, pytest.fail)
    assert await store.load("a") == entry(body=b"new")
    assert await store.load("b") is None
    assert (await store.usage()).entries == 1
    assert (tmp_path / "new" / "pages.db").stat().st_mode & 0o77 == 0
    await store.close()


async def test_the_bound_holds_and_the_last_used_pages_stay(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
    chance = random.Random(1)
    for number in range(200):
        await store.save(str(number), entry(body=chance.randbytes(chance.randrange(100, 60_000))), SOON)
        assert size(tmp_path) <= MOST_BYTES
    kept = [number for number in range(200) if await store.load(str(number))]
    assert kept == list(range(kept[0], 200))
    usage = await store.usage()
    assert (usage.entries, usage.most_bytes) == (len(kept), MOST_BYTES)
    assert 0.8 * MOST_BYTES < usage.bytes <= MOST_BYTES
    await store.close()


async def test_a_page_that_is_used_again_outlives_others(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
    body = random.Random(1).randbytes(50_000)
    for number in range(20):
        await store.save(str(number), entry(body=body), SOON)
    await store.close()
    with sqlite3.connect(tmp_path / "pages.db") as connection:  # as if that were some minutes ago
        connection.execute("UPDATE entries SET used = used - 600")
    connection.close()
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
    assert await store.load("0")
    for number in range(20, 55):
        await store.save(str(number), entry(body=body), SOON)
    assert await store.load("0")
    assert not await store.load("1")
    await store.close()


async def test_what_is_of_no_use_any_more_leaves_first(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
    body = random.Random(1).randbytes(150_000)
    await store.save("used", entry(body=body), SOON)
    await store.save("over", entry(body=body), 1_000.0)
    for number in range(11):
        await store.save(str(number), entry(body=body), SOON)
    assert await store.load("used")
    assert not await store.load("over")
    await store.close()


async def test_no_page_takes_more_than_its_share(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
    await store.save("large", entry(body=random.Random(1).randbytes(MOST_BYTES // 9)), SOON)
    await store.save("shrinks", entry(body=b"a" * (MOST_BYTES // 9)), SOON)
    assert not await store.load("large")
    assert await store.load("shrinks")
    await store.close()


async def test_a_lower_bound_makes_the_file_smaller(tmp_path: Path) -> None:
    for most_bytes in (MOST_BYTES, MOST_BYTES // 4):
        store = DiskStore(tmp_path, most_bytes, MOST_BYTES, pytest.fail)
        for number in range(100):
            await store.save(str(number), entry(body=random.Random(number).randbytes(30_000)), SOON)
        await store.close()
        assert size(tmp_path) <= most_bytes


async def test_clearing_gives_the_space_back(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
    assert await store.clear() == 0
    for number in range(30):
        await store.save(str(number), entry(body=random.Random(number).randbytes(30_000)), SOON)
    assert await store.clear() == 30
    assert (await store.usage()).entries == 0
    assert not await store.load("1")
    await store.close()
    assert size(tmp_path) < 100_000


async def test_several_processes_use_one_cache(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first, 20_000) for first in (0, 100, 200)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert await asyncio.to_thread(writer.stdout.readline) == "begun\n"  # and no warning
        store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
        for _ in range(5):
            assert await all_entries(store) > 0
            assert size(tmp_path) <= MOST_BYTES
        await store.save("mine", entry(), SOON)
        assert await store.load("mine")
        await store.close()
    finally:
        for writer in writers:
            writer.kill()
            rest, _ = writer.communicate()
            assert rest == ""


async def test_a_process_that_is_killed_leaves_whole_entries(tmp_path: Path) -> None:
    for attempt in range(5):
        writer = start_writer(tmp_path, attempt * 50, 150_000)
        assert writer.stdout is not None
        assert await asyncio.to_thread(writer.stdout.readline) == "begun\n"
        writer.kill()
        assert writer.communicate()[0] == ""
        store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, pytest.fail)
        assert await all_entries(store) >= 5
        await store.save("after", entry(), SOON)
        assert await store.load("after")
        await store.close()


async def test_a_damaged_entry_is_dropped_and_told(tmp_path: Path) -> None:
    warnings: list[str] = []
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, warnings.append)
    await store.save("a", entry(), SOON)
    await store.save("b", entry(), SOON)
    with sqlite3.connect(tmp_path / "pages.db") as connection:
        connection.execute("UPDATE records SET record = substr(record, 1, 50) WHERE id = 1")
    connection.close()
    assert await store.load("a") is None
    assert await store.load("b") == entry()
    assert (await store.usage()).entries == 1
    assert len(warnings) == 1
    assert "damaged" in warnings[0]
    await store.close()


@pytest.mark.parametrize("damage", ["text", "zeros", "other-tables", "bits"])
async def test_a_damaged_file_is_begun_anew_and_told(damage: str, tmp_path: Path) -> None:
    warnings: list[str] = []
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, warnings.append)
    for number in range(50):
        await store.save(str(number), entry(body=random.Random(number).randbytes(20_000)), SOON)
    await store.close()
    file = tmp_path / "pages.db"
    if damage == "text":
        file.write_text("This is no database. " * 1_000)
    elif damage == "zeros":
        file.write_bytes(file.read_bytes()[:100] + bytes(file.stat().st_size - 100))
    elif damage == "bits":
        content = bytearray(file.read_bytes())
        for position in range(100, len(content), 97):
            content[position] ^= 0xFF
        file.write_bytes(content)
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("DROP TABLE records")
        connection.close()
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, warnings.append)
    assert await all_entries(store) == 0
    await store.save("new", entry(), SOON)
    assert await store.load("new") == entry()
    assert warnings
    assert "damaged" in warnings[0]
    await store.close()


async def test_a_file_that_is_deleted_or_damaged_while_it_is_used(tmp_path: Path) -> None:
    warnings: list[str] = []
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, warnings.append)
    await store.save("a", entry(), SOON)
    for file in tmp_path.iterdir():
        file.unlink()
    assert await store.load("a") is None
    await store.save("a", entry(), SOON)
    assert await store.load("a") == entry()
    assert not warnings
    await store.close()


async def test_a_folder_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    warnings: list[str] = []
    store = DiskStore(tmp_path / "file" / "cache", MOST_BYTES, MOST_BYTES, warnings.append)
    for _ in range(3):
        assert await store.load("a") is None
        await store.save("a", entry(), SOON)
    assert len(warnings) == 1
    assert (await store.usage()).entries == 0
    await store.close()


async def test_a_file_that_is_a_folder_cannot_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "pages.db").mkdir()
    store = DiskStore(tmp_path, MOST_BYTES, MOST_BYTES, lambda text: None)
    with pytest.raises(CacheError, match="cannot be used"):
        await store.usage()
    await store.close()
