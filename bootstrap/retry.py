"""Rows that were set aside, tried again: their outcomes take the places of the faults."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial

from citewell.bootstrap.journal import Journal
from citewell.bootstrap.types import Fault, Outcome
from citewell.core.threads import in_thread

_TOGETHER = 64  # outcomes, since each time the shards are written anew


def faults(journal: Journal) -> frozenset[str]:
    """The keys of the rows that are set aside."""
    return frozenset(outcome.key for outcome in journal.outcomes() if isinstance(outcome, Fault))


async def retry(
    outcomes: AsyncGenerator[Outcome, None], journal: Journal, seen: Callable[[Sequence[Outcome]], None]
) -> None:
    """Put outcomes into the places of the faults with their keys; rows that failed again stay set aside."""
    batch: list[Outcome] = []
    async with aclosing(outcomes):
        async for outcome in outcomes:
            batch.append(outcome)
            if len(batch) >= _TOGETHER:
                await _replace(journal, batch)
                seen(batch)
                batch = []
    if batch:
        await _replace(journal, batch)
        seen(batch)


async def _replace(journal: Journal, batch: Sequence[Outcome]) -> None:
    done = {outcome.key: outcome for outcome in batch if not isinstance(outcome, Fault)}
    await in_thread(partial(journal.replace, done))
