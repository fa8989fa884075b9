"""Store outcomes as they come, retry failed rows, and stop a run in which everything fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from citewell.bootstrap.journal import Journal
from citewell.bootstrap.types import Fault, Outcome, TeacherUsage
from citewell.core.errors import CitewellError
from citewell.core.threads import in_thread

_WAITING = 256  # outcomes in the queue to the disk


_BATCH = 64  # outcomes, since each batch rewrites shards


class GaveUpError(CitewellError):
    """Too many consecutive rows failed, as when a teacher is down."""


async def record(
    outcomes: AsyncGenerator[Outcome, None],
    journal: Journal,
    max_faults: int,
    seen: Callable[[Sequence[Outcome]], None],
) -> None:
    """Append outcomes to the journal in their order, in batches; `seen` receives each stored batch.

    Faults are stored once a later row succeeds, or at the end. After `max_faults` consecutive faults, or if
    there is nothing else, `GaveUpError` is raised and they are not stored, so that the next run tries those
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
                    if len(faults) >= max_faults:
                        break
                else:
                    ready += [*faults, outcome]
                    faults = []
            if ready:
                worked = True
                await in_thread(partial(journal.append, ready))
                seen(ready)
            if len(faults) >= max_faults:
                raise _gave_up(faults)
    if faults and not worked and not journal.shards():
        raise _gave_up(faults)
    if faults:
        await in_thread(partial(journal.append, faults))
        seen(faults)


def failed_keys(journal: Journal) -> frozenset[str]:
    """Return the keys of the rows that failed."""
    return frozenset(outcome.key for outcome in journal.outcomes() if isinstance(outcome, Fault))


async def record_again(
    outcomes: AsyncGenerator[Outcome, None],
    journal: Journal,
    max_faults: int,
    seen: Callable[[Sequence[Outcome]], None],
) -> None:
    """Replace faults by the new outcomes of their rows; of rows that failed again, only the usage changes.

    The usage of a row is that of all its attempts, also before. What is there when it is interrupted is
    stored too. Raises `GaveUpError` after `max_faults` consecutive faults.
    """
    batch: list[Outcome] = []
    faults: list[Fault] = []

    def failures() -> dict[str, Fault]:
        return {each.key: each for each in journal.outcomes() if isinstance(each, Fault)}

    before = await in_thread(failures)

    async def store() -> None:
        done: dict[str, Outcome] = {}
        for outcome in batch:
            fault = before[outcome.key]
            if outcome.usage != TeacherUsage() or not isinstance(outcome, Fault):
                kept = fault if isinstance(outcome, Fault) else outcome
                done[outcome.key] = replace(kept, usage=fault.usage + outcome.usage)
        seen(tuple(batch))
        batch.clear()
        await in_thread(partial(journal.replace, done))

    try:
        async with aclosing(outcomes):
            async for outcome in outcomes:
                batch.append(outcome)
                faults = [*faults, outcome] if isinstance(outcome, Fault) else []
                if len(faults) >= max_faults:
                    raise _gave_up(faults)
                if len(batch) >= _BATCH:
                    await store()
    finally:
        if batch:
            await store()


def _gave_up(faults: Sequence[Fault]) -> GaveUpError:
    number = len(faults)
    return GaveUpError(
        f"{f'{number:,} consecutive rows failed' if number > 1 else 'The only row failed'}. "
        f"The last error: {faults[-1].error}",
        "Fix that, and run the same command again: it resumes after the stored rows. If these rows always "
        "fail, raise run.faults.",
    )


async def _batches(outcomes: AsyncGenerator[Outcome, None]) -> AsyncGenerator[list[Outcome], None]:
    """Yield batches of all outcomes that are ready."""
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
