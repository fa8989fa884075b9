"""Repeatable requests are claimed by one of several, and deleted a day later."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, text, update

from citewell.server.store.address import read_address
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.engine import open_migrating_engine
from citewell.server.store.tables import REQUESTS


async def test_of_two_repetitions_of_a_failed_question_one_asks_it(store: ServiceStore) -> None:
    await store.requests.claim("one", "digest")
    await store.requests.finish("one", {"answer": "failed"})
    reopened = await asyncio.gather(*(store.requests.reopen("one", "failed") for _ in range(2)))
    assert sorted(reopened) == [False, True]
    known = await store.requests.claim("one", "digest")
    assert known is not None
    assert known.reply is None
    await store.requests.finish("one", {"answer": "second"})
    assert not await store.requests.reopen("one", "failed")


async def test_of_two_first_requests_at_two_connections_one_runs(url: str) -> None:
    async with open_store(url) as one, open_store(url) as other:
        for number in range(20):
            claims = one.requests.claim(f"{number}", "a"), other.requests.claim(f"{number}", "b")
            first, second = await asyncio.gather(*claims)
            known = first or second
            assert (first is None) != (second is None)
            assert known is not None
            assert known.digest == ("a" if first is None else "b")


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_first_request_waits_for_one_that_is_being_stored(database: str, is_kept: bool) -> None:
    """PostgreSQL lets the second look before the first is committed: it sees nothing, and then must wait."""
    row = {"id": "one", "digest": "first", "created": datetime.now(UTC), "reply": None}
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    async with open_store(database) as store:
        engine = open_migrating_engine(read_address(database))
        with engine.connect() as first, engine.connect() as watching:
            first.execute(insert(REQUESTS).values(row))
            claiming = asyncio.create_task(store.requests.claim("one", "second"))
            while not watching.execute(waiting).scalar_one():
                watching.rollback()  # which would show the same moment again
                await asyncio.sleep(0.01)
            assert not claiming.done()
            first.commit() if is_kept else first.rollback()
            known = await claiming
        engine.dispose()
    assert (known and known.digest) == ("first" if is_kept else None)


async def test_old_requests_are_deleted_when_the_database_is_opened(store: ServiceStore, url: str) -> None:
    for name in ("old", "new"):
        await store.requests.claim(name, "digest")
        await store.requests.finish(name, {"answer": name})
    then = datetime.now(UTC) - timedelta(hours=25)
    await store.database.change(update(REQUESTS).where(REQUESTS.c.id == "old").values(created=then))
    async with open_store(url) as opened:
        assert [row["id"] for row in await opened.database.rows(select(REQUESTS.c.id))] == ["new"]
