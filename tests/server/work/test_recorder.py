"""Ends of questions while the database is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from citewell.core.errors import CitewellError
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.work.reconnecting import Reconnecting
from citewell.server.work.recorder import EndRecorder


def running(answer_id: str) -> StoredAnswer:
    return StoredAnswer(answer_id, None, "Why?", "answer", "running", datetime.now(UTC), None, None, None, {})


async def test_what_the_database_refuses_is_stored_once_it_takes_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'citewell.sqlite3'}"
    is_there = asyncio.Event()

    @asynccontextmanager
    async def opener() -> AsyncGenerator[ServiceStore, None]:
        if not is_there.is_set():
            raise CitewellError("The database is away.")
        async with open_store(url) as store:
            yield store

    opening = Reconnecting("database", opener)
    recorder = EndRecorder(opening, pause=0.05)
    async with open_store(url) as store:
        await store.answers.add(running("one"))
        await opening.start()
        await recorder.keep(replace(running("one"), status="done", seconds=1.5, body={"answer": "Because."}))
        assert recorder.pending == 1
        is_there.set()
        async with asyncio.timeout(10):
            while recorder.pending:
                await asyncio.sleep(0.05)
        stored = await store.answers.get("one")
    assert stored is not None
    assert (stored.status, stored.seconds, stored.body) == ("done", 1.5, {"answer": "Because."})
    await recorder.close()
    await opening.close()


async def test_what_is_left_is_stored_when_the_service_stops(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'citewell.sqlite3'}"
    opening = Reconnecting("database", lambda: open_store(url))
    recorder = EndRecorder(opening)
    await recorder.keep(replace(running("one"), status="failed", seconds=1.0, problem={"status": 500}))
    assert recorder.pending == 1
    await opening.start()
    await opening.get().answers.add(running("one"))
    await recorder.close()
    stored = await opening.get().answers.get("one")
    assert stored is not None
    assert (stored.status, stored.problem) == ("failed", {"status": 500})
    await opening.close()
