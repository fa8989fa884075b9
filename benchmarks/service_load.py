"""Clients of the service, as many at once as a measurement needs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import aiohttp

_PATIENCE = 600.0  # seconds for one reply
_REFERENCES = range(3, 9)

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LoadReply:
    """One reply: its status, 0 if there was none, and seconds from the request to its end.

    `first` are the seconds to the first event of a stream, and `pipeline` those of the pipeline.
    """

    status: int
    seconds: float
    first: float = 0.0
    pipeline: float = 0.0


def plain(questions: Sequence[str]) -> list[Body]:
    """Return each question once, as a request for a quoted answer that no cache has."""
    return [{"question": question, "fresh": True, "generator": "extractive"} for question in questions]


def endless(questions: Sequence[str]) -> Iterator[Body]:
    """Cycle through distinct requests, six per question, so that requests in a row never share a run."""
    return cycle(body | {"k": k} for k in _REFERENCES for body in plain(questions))


class Client:
    """A client of one service; every request has a separate connection, as from many computers."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def ready(self) -> None:
        """Wait until the service accepts questions."""
        async with self._session.get("/ready") as reply:
            if reply.status != 200:
                raise RuntimeError(await reply.text())

    async def ask(self, body: Body) -> LoadReply:
        """Ask, and wait for the answer."""
        began = time.perf_counter()
        try:
            async with self._session.post("/v1/answers", json=body) as reply:
                content = await reply.read()
        except aiohttp.ClientError:
            return LoadReply(0, time.perf_counter() - began)
        seconds = time.perf_counter() - began
        timings = json.loads(content).get("timings", {})
        return LoadReply(reply.status, seconds, pipeline=timings.get("total", 0.0))

    async def stream(self, body: Body) -> LoadReply:
        """Ask for events, and read them to the last one, which must be `done`."""
        began = time.perf_counter()
        first, last = 0.0, b""
        try:
            accept = {"Accept": "text/event-stream"}
            async with self._session.post("/v1/answers", json=body, headers=accept) as reply:
                async for line in reply.content:
                    if line.startswith(b"event: "):
                        first = first or time.perf_counter() - began
                        last = line.removeprefix(b"event: ").strip()
        except (aiohttp.ClientError, ValueError):
            return LoadReply(0, time.perf_counter() - began)
        broken = reply.status == 200 and last != b"done"
        return LoadReply(0 if broken else reply.status, time.perf_counter() - began, first)


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    """Open a client of the service at `url`, once it is ready."""
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    patience = aiohttp.ClientTimeout(total=_PATIENCE)
    # The last event of a stream holds a whole answer in one line.
    async with aiohttp.ClientSession(
        url, connector=connector, timeout=patience, read_bufsize=2**22
    ) as session:
        asking = Client(session)
        await asking.ready()
        yield asking


async def closed_loop(
    client: Client, bodies: Iterator[Body], clients: int, seconds: float
) -> list[LoadReply]:
    """Let this many clients ask one question after another, for this long; running requests are finished."""
    end = time.perf_counter() + seconds
    replies: list[LoadReply] = []

    async def work() -> None:
        while time.perf_counter() < end:
            replies.append(await client.ask(next(bodies)))

    await asyncio.gather(*(work() for _ in range(clients)))
    return replies


async def open_loop(client: Client, bodies: Iterator[Body], rate: float, seconds: float) -> list[LoadReply]:
    """Send questions at `rate` per second, evenly, whether earlier ones were answered or not."""
    began = time.perf_counter()
    asking = []
    for number in range(max(1, round(rate * seconds))):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        asking.append(asyncio.create_task(client.ask(next(bodies))))
    return list(await asyncio.gather(*asking))
