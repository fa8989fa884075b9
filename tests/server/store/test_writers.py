"""Many changes at once: each has its own outcome, and only opinions wait for the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import Connection, event

from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.engine import FileTransactions
from citewell.server.store.errors import StoreError

from .samples import answer, feedback


async def test_a_file_waits_for_the_disk_for_opinions_and_not_for_answers(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'store.sqlite3'}") as store:
        assert isinstance(store.database.transactions, FileTransactions)
        levels: list[int] = []

        def note(connection: Connection) -> None:
            levels.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

        event.listen(store.database.transactions.engine, "commit", note)
        await store.answers.add(asked := answer())
        await store.answers.finish(asked.id, body=None, problem=None, status="done", seconds=1.0)
        await store.feedback.add(feedback())
        await store.answers.add(answer())
        await store.answers.add(answer(), lasting=True)
    normal, full = 1, 2  # https://www.sqlite.org/pragma.html#pragma_synchronous
    assert levels == [normal, normal, full, normal, full]


async def test_many_writers_and_one_that_is_refused(url: str) -> None:
    """With a real database: what was reported as stored is what is there."""
    async with open_store(url) as store:
        await store.feedback.add(known := feedback())
        wanted = [feedback() for _ in range(30)]
        added = [*wanted[:15], known, *wanted[15:]]
        outcomes = await asyncio.gather(*map(store.feedback.add, added), return_exceptions=True)
        assert [isinstance(outcome, StoreError) for outcome in outcomes] == [one is known for one in added]
    async with open_store(url) as store:
        ids = {each.id async for each in store.feedback.each()}
        assert ids == {each.id for each in (known, *wanted)}


async def test_each_of_many_changes_says_what_it_changed(store: ServiceStore) -> None:
    await store.answers.add(asked := answer())
    ends = [
        store.answers.finish(asked.id, body={"end": n}, problem=None, status="done", seconds=float(n))
        for n in range(10)
    ]
    assert await asyncio.gather(*ends) == [True] * 10
    kept = await store.answers.get(asked.id)
    assert kept is not None
    assert kept.body is not None
    assert kept.body["end"] == int(kept.seconds or 0)
    assert await store.answers.finish("none", body={}, problem=None, status="done", seconds=0.0) is False
