"""Repeatable requests are claimed by one of several, and deleted a day later."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from sqlalchemy import select, update

from citewell.server.store.database import ServiceStore, open_store
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


async def test_old_requests_are_deleted_when_the_database_is_opened(store: ServiceStore, url: str) -> None:
    for name in ("old", "new"):
        await store.requests.claim(name, "digest")
        await store.requests.finish(name, {"answer": name})
    then = datetime.now(UTC) - timedelta(hours=25)
    await store.database.change(update(REQUESTS).where(REQUESTS.c.id == "old").values(created=then))
    async with open_store(url) as opened:
        assert [row["id"] for row in await opened.database.rows(select(REQUESTS.c.id))] == ["new"]
