"""Changes that are committed with one another: few waits for the disk, and each its own outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, event, insert

from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.engine import FileTransactions
from citewell.server.store.errors import StoreError, StoreUnreachableError
from citewell.server.store.tables import FEEDBACK
from citewell.server.store.together import Change, Together

from .samples import answer, feedback


def changes(count: int) -> list[Change]:
    return [insert(FEEDBACK) for _ in range(count)]


class Disk:
    """Writes what it is given, one transaction after another, as soon as it may."""

    def __init__(self, error: StoreError | None = None, bad: Change | None = None) -> None:
        self.gate = asyncio.Event()
        self.transactions: list[int] = []
        self.lasting: list[bool] = []
        self.error = error
        self.bad = bad

    async def write(self, group: Sequence[Change], lasting: bool) -> list[int]:
        self.transactions.append(len(group))
        self.lasting.append(lasting)
        await self.gate.wait()
        if self.error is not None and (self.bad is None or self.bad in group):
            raise self.error
        return [1] * len(group)


async def stored(disk: Disk, group: Sequence[Change]) -> list[int | BaseException]:
    """The outcomes of changes that come while another one is written."""
    together = Together(disk.write)
    first, *others = [
        asyncio.create_task(together.change(change, lasting=False)) for change in (*changes(1), *group)
    ]
    await asyncio.sleep(0)
    disk.gate.set()
    await asyncio.wait({first})
    return await asyncio.gather(*others, return_exceptions=True)


async def test_what_came_meanwhile_is_committed_at_once() -> None:
    disk = Disk()
    assert await stored(disk, changes(60)) == [1] * 60
    assert disk.transactions in ([1, 60], [61])


async def test_a_transaction_does_not_grow_without_end() -> None:
    disk = Disk()
    assert await stored(disk, changes(250)) == [1] * 250
    assert max(disk.transactions) == 100


async def test_a_change_that_is_refused_is_refused_alone() -> None:
    group = changes(5)
    refusal = StoreError("There is one already.")
    assert await stored(Disk(refusal, group[2]), group) == [1, 1, refusal, 1, 1]


async def test_a_database_that_cannot_be_reached_is_not_asked_for_each() -> None:
    disk = Disk(StoreUnreachableError("It is away."))
    outcomes = await stored(disk, changes(5))
    assert all(isinstance(outcome, StoreUnreachableError) for outcome in outcomes)
    assert sum(disk.transactions) == 6


async def test_one_lasting_change_takes_those_beside_it_to_the_disk() -> None:
    disk = Disk()
    together = Together(disk.write)
    first = asyncio.create_task(together.change(insert(FEEDBACK), lasting=False))
    await asyncio.sleep(0)
    others = [
        asyncio.create_task(together.change(insert(FEEDBACK), lasting=lasts))
        for lasts in (False, True, False)
    ]
    await asyncio.sleep(0)
    disk.gate.set()
    await asyncio.gather(first, *others)
    assert list(zip(disk.transactions, disk.lasting, strict=True)) in ([(1, False), (3, True)], [(4, True)])


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


async def test_a_writer_that_is_cancelled_takes_no_other_along() -> None:
    disk = Disk()
    together = Together(disk.write)
    first, second = [asyncio.create_task(together.change(change, lasting=False)) for change in changes(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert disk.transactions
    first.cancel()
    disk.gate.set()
    outcomes = await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), 60)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert outcomes[1] == 1 or isinstance(outcomes[1], StoreUnreachableError)
    assert await together.change(insert(FEEDBACK), lasting=False) == 1


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


async def test_a_group_says_of_each_change_what_it_changed(store: ServiceStore) -> None:
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
