"""The fetch stage: all pages at once; good pages never wait for bad ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TypeVar

from citewell.core.errors import ExtractionError, FetchError
from citewell.core.types import Failure
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.hedge import Get

T = TypeVar("T")

# Pages that are there when the stage ends are still read, which takes most of them a few hundredths of this.
_READING_SECONDS = 1.0


class FetchWait:
    """How long the fetch stage waits for pages.

    That is its deadline at first. Whoever knows what the pages so far are worth may move the end, within the
    deadline, as often as that changes.
    """

    def __init__(self, deadline: float) -> None:
        """Wait for `deadline` seconds from the start of the stage."""
        self.deadline = deadline
        self.until = deadline
        self.moved = asyncio.Event()

    def wait_until(self, seconds: float) -> None:
        """Let the stage end `seconds` after its start: at once when that is over."""
        self.until = min(seconds, self.deadline)
        self.moved.set()

    @property
    def reason(self) -> str:
        """Why the pages that are not there at the end are given up."""
        if self.until < self.deadline:
            return f"late: not there after {self.until:.1f} s, when what had arrived was enough"
        return f"late: no answer within {self.deadline:.1f} s"


async def fetch_all(
    urls: Iterable[str], get: Get, read: Callable[[Download], Awaitable[T]], patience: FetchWait
) -> AsyncGenerator[T | Failure, None]:
    """Fetch all URLs in parallel and yield what `read` makes of each page, or why there is none, as it comes.

    Pages that are not there when `patience` ends are cancelled and yielded as failures of the kind `late`. A
    URL that is listed twice is fetched once. Closing the generator (`contextlib.aclosing`) cancels what still
    runs. An error other than `FetchError` and `ExtractionError` is a fault of the program and is raised.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    there: set[str] = set()

    async def page(url: str) -> T | Failure:
        try:
            download = await get(url)
            there.add(url)
            return await read(download)
        except FetchError as error:
            return Failure(url, error.message, error.kind)
        except ExtractionError as error:
            return Failure(url, error.message, "extract")

    tasks = {asyncio.create_task(page(url)): url for url in dict.fromkeys(urls)}
    moved = asyncio.create_task(patience.moved.wait())
    pending = set(tasks)
    try:
        while pending:
            seconds = max(0.0, start + patience.until - loop.time())
            done, _ = await asyncio.wait(
                pending | {moved}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            if moved in done:
                patience.moved.clear()
                moved = asyncio.create_task(patience.moved.wait())
            for task in [task for task in tasks if task in done]:
                pending.discard(task)
                yield task.result()
        if reading := [task for task in tasks if task in pending and tasks[task] in there]:
            await asyncio.wait(reading, timeout=_READING_SECONDS)
        late = [task for task in tasks if task in pending and not task.done()]
        await _cancel(late)
        for task in [task for task in tasks if task in pending]:
            yield Failure(tasks[task], patience.reason, "late") if task in late else task.result()
    finally:
        await _cancel([*tasks, moved])


async def _cancel(tasks: Iterable[asyncio.Task[object]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
