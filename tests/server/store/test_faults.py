"""What goes wrong with a database is told in one kind of error, and is over when it is over."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event

from citewell.core.errors import SettingsError
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.engine import FileTransactions
from citewell.server.store.errors import StoreError, StoreFullError, StoreUnreachableError

from .samples import feedback

LARGE = "x" * 200_000


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


async def fill(store: ServiceStore) -> list[str]:
    """Add feedback until there is no room; return the ids that were accepted."""
    accepted = []
    for _ in range(100):
        large = feedback(comment=LARGE)
        try:
            await store.feedback.add(large)
        except StoreFullError:
            return accepted
        accepted.append(large.id)
    raise AssertionError("the disk is larger than it should be")


async def comes_back(store: ServiceStore) -> None:
    """Ask until the store answers: it tries its database once a second."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await store.ping()
            except StoreUnreachableError:
                await asyncio.sleep(0.1)


async def test_a_full_disk(tiny_disk: Path) -> None:
    async with open_store(f"sqlite:///{tiny_disk / 'c.sqlite3'}") as store:
        ballast = tiny_disk / "ballast"
        ballast.write_bytes(b"x" * 500_000)
        accepted = await fill(store)
        assert accepted
        with pytest.raises(StoreFullError, match="is full"):
            await store.feedback.add(feedback(comment=LARGE))
        assert [each.id async for each in store.feedback.each()] == accepted
        ballast.unlink()
        await store.feedback.add(late := feedback(comment=LARGE))
        assert [each.id async for each in store.feedback.each()] == [*accepted, late.id]


async def test_a_file_that_may_not_grow(file: Path) -> None:
    most_pages = 100

    def limit(connection: Any, *others: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA max_page_count = {most_pages}")
        cursor.close()

    async with open_store(f"sqlite:///{file}") as store:
        assert isinstance(store.database.transactions, FileTransactions)
        event.listen(store.database.transactions.engine, "checkout", limit)
        accepted = await fill(store)
        most_pages = 10_000
        await store.feedback.add(late := feedback(comment=LARGE))
        assert [each.id async for each in store.feedback.each()] == [*accepted, late.id]


async def test_a_server_that_goes_away_and_comes_back(database: str, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:

        def open_database(is_open: bool) -> None:
            admin.execute(f"ALTER DATABASE tests ALLOW_CONNECTIONS {is_open}")
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'tests'")

        async with open_store(database) as store:
            await store.feedback.add(first := feedback())
            open_database(False)
            for _ in range(2):
                with pytest.raises(StoreUnreachableError):
                    await store.feedback.add(feedback())
            with pytest.raises(StoreUnreachableError):
                await store.ping()
            open_database(True)
            await store.feedback.add(second := feedback())
            open_database(True)  # all connections are cut, and nobody notices
            await store.feedback.add(third := feedback())
            assert [each.id async for each in store.feedback.each()] == [first.id, second.id, third.id]


async def test_a_patient_store_begins_without_its_server(database: str, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("ALTER DATABASE tests ALLOW_CONNECTIONS false")
        with pytest.raises(StoreUnreachableError, match="not currently accepting"):
            async with open_store(database):
                pass
        async with open_store(database, patient=True) as store:
            with pytest.raises(StoreUnreachableError):
                await store.feedback.add(feedback())
            admin.execute("ALTER DATABASE tests ALLOW_CONNECTIONS true")
            await comes_back(store)
            await store.feedback.add(late := feedback())
            assert await store.feedback.of_answer(late.answer_id) == [late]


async def test_a_patient_store_begins_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("no folder")
    async with open_store(f"sqlite:///{tmp_path}/folder/c.sqlite3", patient=True) as store:
        with pytest.raises(StoreUnreachableError):
            await store.ping()


async def test_a_file_that_is_no_database(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"This is a letter to my grandmother. " * 100)
    with pytest.raises(StoreError, match="not a database"):
        async with open_store(f"sqlite:///{file}"):
            pass
    assert file.read_bytes().startswith(b"This is a letter")


async def test_what_was_refused_is_named_without_its_content(store: ServiceStore) -> None:
    await store.feedback.add(once := feedback(comment="my secret illness"))
    with pytest.raises(StoreError) as refused:
        await store.feedback.add(once)
    assert "illness" not in str(refused.value)
    assert "unique" in str(refused.value).lower()


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///:memory:", "mysql://u:hidden@h/d", "postgresql://u:hidden@h", "hidden"],
)
async def test_urls_that_are_not_understood(url: str) -> None:
    with pytest.raises(SettingsError, match="database_url") as refused:
        async with open_store(url):
            pass
    assert "hidden" not in str(refused.value)


async def test_no_password_is_shown(unused_tcp_port: int) -> None:
    with pytest.raises(StoreUnreachableError) as failure:
        async with open_store(f"postgresql://me:hidden@127.0.0.1:{unused_tcp_port}/name"):
            pass
    assert "hidden" not in str(failure.value)
    assert f"127.0.0.1:{unused_tcp_port}/name" in failure.value.message
