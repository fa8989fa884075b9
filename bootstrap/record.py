"""Storing outcomes as they come, and ending a run in which nothing works any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial

from citewell.bootstrap.journal import Journal
from citewell.bootstrap.types import Fault, Outcome
from citewell.core.errors import CitewellError
from citewell.core.threads import in_thread

_WAITING = 256  # outcomes that wait for the disk


class GaveUpError(CitewellError):
    """Too many rows failed one after the other, as when a teacher is down."""


async def record(
    outcomes: AsyncGenerator[Outcome, None],
    journal: Journal,
    most_faults: int,
    seen: Callable[[Sequence[Outcome]], None],
) -> None:
    """Append outcomes to the journal in their order; those that wait are stored together. `seen` is told.

    Faults are stored once a later row did not fail, or at the end: where `most_faults` come one after the
    other, or nothing else at all, `GaveUpError` is raised, they are not stored, and the next run tries those
    rows again.
    """
    faults: list[Fault] = []
    worked = False
    async with aclosing(_batches(outcomes)) as batches:
        async for batch in batches:
            ready: list[Outcome] = []
            for outcome in batch:
                if isinstance(outcome, Fault):
                    faults.append(outcome)
                    if len(faults) >= most_faults:
                        break
                else:
                    ready += [*faults, outcome]
                    faults = []
            if ready:
                worked = True
                await in_thread(partial(journal.append, ready))
                seen(ready)
            if len(faults) >= most_faults:
                raise _gave_up(faults)
    if faults and not worked and not journal.shards():
        raise _gave_up(faults)
    if faults:
        await in_thread(partial(journal.append, faults))
        seen(faults)


def _gave_up(faults: Sequence[Fault]) -> GaveUpError:
    number = len(faults)
    return GaveUpError(
        f"{f'{number:,} rows failed one after the other' if number > 1 else 'The only row failed'}. "
        f"The last error: {faults[-1].error}",
        "What was stored is kept; mend that, and run the same command again.",
    )


async def _batches(outcomes: AsyncGenerator[Outcome, None]) -> AsyncGenerator[list[Outcome], None]:
    """All outcomes that are there each time that one is asked for."""
    queue: asyncio.Queue[Outcome] = asyncio.Queue(_WAITING)

    async def fill() -> None:
        async with aclosing(outcomes):
            async for outcome in outcomes:
                await queue.put(outcome)

    filling = asyncio.create_task(fill())
    getting = asyncio.create_task(queue.get())
    try:
        while not filling.done():
            await asyncio.wait((getting, filling), return_when=asyncio.FIRST_COMPLETED)
            batch = []
            if getting.done():
                batch.append(getting.result())
                while not queue.empty():
                    batch.append(queue.get_nowait())
                getting = asyncio.create_task(queue.get())
            if batch:
                yield batch
        getting.cancel()
        await asyncio.gather(getting, return_exceptions=True)
        rest = [] if getting.cancelled() else [getting.result()]
        while not queue.empty():
            rest.append(queue.get_nowait())
        if rest:
            yield rest
        await filling
    finally:
        getting.cancel()
        filling.cancel()
        await asyncio.gather(getting, filling, return_exceptions=True)
