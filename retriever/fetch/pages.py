"""The fetch stage: all pages at once; good pages never wait for bad ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TypeVar

from citewell.core.errors import ExtractionError, FetchError
from citewell.core.types import Failure
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.page_request import PageFetch, PageRequest

T = TypeVar("T")

# Pages that have arrived when the stage ends are still read; most take a few hundredths of this.
_READING_SECONDS = 1.0


class FetchWait:
    """The end of the fetch stage.

    It is the deadline at first, and may be moved within the deadline as often as the value of the pages so
    far changes.
    """

    def __init__(self, deadline: float) -> None:
        """Wait for `deadline` seconds from the start of the stage."""
        self.deadline = deadline
        self.until = deadline
        self.moved = asyncio.Event()

    def wait_until(self, seconds: float) -> None:
        """Let the stage end `seconds` after its start, or at once if that time has passed."""
        self.until = min(seconds, self.deadline)
        self.moved.set()

    @property
    def reason(self) -> str:
        """The reason why pages missing at the end are cancelled."""
        if self.until < self.deadline:
            return f"late: not there after {self.until:.1f} s, when what had arrived was enough"
        return f"late: no answer within {self.deadline:.1f} s"


async def fetch_all(
    requests: Iterable[PageRequest],
    fetch: PageFetch,
    read: Callable[[Download], Awaitable[T]],
    wait: FetchWait,
) -> AsyncGenerator[T | Failure, None]:
    """Fetch all pages in parallel; yield each page read by `read`, or its failure, as they come.

    Pages that are missing when `wait` ends are cancelled and yielded as failures of the kind `late`. A URL
    that is listed twice is fetched once. Closing the generator (`contextlib.aclosing`) cancels the running
    requests. An error other than `FetchError` and `ExtractionError` is a fault of the program and is raised.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    fetched: set[str] = set()

    async def page(request: PageRequest) -> T | Failure:
        try:
            download = await fetch(request)
            fetched.add(request.url)
            return await read(download)
        except FetchError as error:
            return Failure(request.url, error.message, error.kind)
        except ExtractionError as error:
            return Failure(request.url, error.message, "extract")

    by_url = {request.url: request for request in requests}
    tasks = {asyncio.create_task(page(request)): url for url, request in by_url.items()}
    moved = asyncio.create_task(wait.moved.wait())
    pending = set(tasks)
    try:
        while pending:
            seconds = max(0.0, start + wait.until - loop.time())
            done, _ = await asyncio.wait(
                pending | {moved}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            if moved in done:
                wait.moved.clear()
                moved = asyncio.create_task(wait.moved.wait())
            for task in [task for task in tasks if task in done]:
                pending.discard(task)
                yield task.result()
        if reading := [task for task in tasks if task in pending and tasks[task] in fetched]:
            await asyncio.wait(reading, timeout=_READING_SECONDS)
        late = [task for task in tasks if task in pending and not task.done()]
        await _cancel(late)
        for task in [task for task in tasks if task in pending]:
            yield Failure(tasks[task], wait.reason, "late") if task in late else task.result()
    finally:
        await _cancel([*tasks, moved])


async def _cancel(tasks: Iterable[asyncio.Task[object]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
