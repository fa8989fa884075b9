"""The local engine: concurrent rows in this process, with outcomes in the order of the tasks."""

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
    """Yield the outcomes of tasks, in the order of the tasks; at most `concurrency` rows run at a time.

    A slow row blocks later ones only once four times `concurrency` are started. Closing the generator cancels
    the rows that are running.
    """
    slots = asyncio.Semaphore(concurrency)
    rows = iter(tasks)
    started: deque[asyncio.Task[Outcome]] = deque()

    async def work(task: BootstrapTask) -> Outcome:
        async with slots:
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
