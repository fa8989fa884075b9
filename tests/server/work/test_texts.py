"""Requests to read texts share the places and the turns fairly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from citewell.retriever.encoder.encoder import Vectors
from citewell.server.work.errors import QueueFullError, QueueShareError
from citewell.server.work.queue import QueueLimits
from citewell.server.work.texts import TextService


async def test_one_key_leaves_places_to_others() -> None:
    service, gate = TextService(QueueLimits(concurrency=1, queue=7)), threading.Event()

    def work(texts: Sequence[str]) -> Vectors:
        assert gate.wait(30)
        return np.zeros((len(texts), 1), np.float32)

    def read(key: str | None) -> asyncio.Task[Vectors]:
        return asyncio.create_task(service.read(["A text."], work, key))

    mine = [read("mine") for _ in range(7)]
    await asyncio.sleep(0)
    with pytest.raises(QueueShareError, match="7 requests of this key"):
        await read("mine")
    other = read("other")
    await asyncio.sleep(0)
    with pytest.raises(QueueFullError):
        await read("third")
    gate.set()
    assert {rows.shape for rows in await asyncio.gather(*mine, other)} == {(1, 1)}
    assert (await read("mine")).shape == (1, 1)
