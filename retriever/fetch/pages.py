"""The fetch stage: all pages at once, on one deadline; good pages never wait for bad ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from typing import Any

from core.errors import FetchError
from core.types import Failure
from retriever.fetch.download import Download

Get = Callable[[str], Coroutine[Any, Any, Download]]
"""Fetches one URL or raises `FetchError`: `HttpFetcher.get`, or anything around it."""


async def fetch_all(
    urls: Iterable[str], get: Get, deadline: float
) -> AsyncGenerator[Download | Failure, None]:
    """Fetch all URLs in parallel and yield each page, or why there is none, as it arrives.

    `deadline` is in seconds for the whole stage: pages that are not there by then are cancelled
    and yielded as failures. A URL that is listed twice is fetched once. Closing the generator
    (`contextlib.aclosing`) cancels what still runs. An error other than `FetchError` is a fault
    of the program and is raised.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline
    tasks = {asyncio.create_task(get(url)): url for url in dict.fromkeys(urls)}
    pending = set(tasks)
    try:
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=max(0.0, end - loop.time()), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            for task in tasks:
                if task in done:
                    yield _outcome(task, tasks[task])
        late = [tasks[task] for task in tasks if task in pending]
        await _cancel(pending)
        for url in late:
            yield Failure(url, f"late: no answer within {deadline:.1f} s")
    finally:
        await _cancel(tasks)


def _outcome(task: asyncio.Task[Download], url: str) -> Download | Failure:
    try:
        return task.result()
    except FetchError as error:
        return Failure(url, error.message)


async def _cancel(tasks: Iterable[asyncio.Task[Download]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
