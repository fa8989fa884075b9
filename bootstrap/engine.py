"""The local engine: rows at the same time in this process, their outcomes in the order of the tasks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable

from citewell.bootstrap.row import RowParts, bootstrap_row
from citewell.bootstrap.types import BootstrapTask, Outcome

_AHEAD = 4


async def local_outcomes(
    tasks: Iterable[BootstrapTask], parts: RowParts, concurrency: int
) -> AsyncGenerator[Outcome, None]:
    """The outcomes of tasks, in the order of the tasks; `concurrency` rows are worked on at a time.

    A slow row does not hold up those behind it until four times `concurrency` are started. Closing the
    generator cancels the rows that are.
    """
    places = asyncio.Semaphore(concurrency)
    rows = iter(tasks)
    started: deque[asyncio.Task[Outcome]] = deque()

    async def work(task: BootstrapTask) -> Outcome:
        async with places:
            return await bootstrap_row(task, parts)

    try:
        while True:
            while len(started) < _AHEAD * concurrency and (task := next(rows, None)) is not None:
                started.append(asyncio.create_task(work(task)))
            if not started:
                return
            yield await started[0]
            started.popleft()
    finally:
        for row in started:
            row.cancel()
        await asyncio.gather(*started, return_exceptions=True)
