"""The local engine: concurrent rows in this process, with outcomes in the order of the tasks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from functools import partial

from citewell.bootstrap.ahead import Ahead
from citewell.bootstrap.row import RowParts, bootstrap_row
from citewell.bootstrap.types import BootstrapTask, Outcome
from citewell.core.threads import in_thread

_AHEAD = 4


async def local_outcomes(
    tasks: Iterable[BootstrapTask], parts: RowParts, concurrency: int, ahead: Ahead | None = None
) -> AsyncGenerator[Outcome, None]:
    """Yield the outcomes of tasks, in the order of the tasks; at most `concurrency` rows run at a time.

    A slow row blocks later ones only once four times `concurrency` are started. Closing the generator cancels
    the rows that are running. Outcomes that wait for an earlier one are kept in `ahead`, which also
    brings those of an earlier run.
    """
    slots = asyncio.Semaphore(concurrency)
    rows = iter(tasks)
    started: deque[asyncio.Task[Outcome]] = deque()

    async def work(task: BootstrapTask) -> Outcome:
        if ahead is not None and (kept := ahead.pop(task.key)) is not None:
            return kept
        async with slots:
            outcome = await bootstrap_row(task, parts)
        if ahead is not None and started[0] is not asyncio.current_task():
            await in_thread(partial(ahead.keep, outcome))
        return outcome

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
