"""Group commit: changes that come while the database writes are committed with one another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Delete, Insert, Update

from citewell.server.store.errors import StoreError, StoreUnreachableError

Change = Insert | Update | Delete
Write = Callable[[Sequence[Change], bool], Awaitable[list[int]]]
"""Stores changes in one transaction, `lasting` or not, and returns how many rows each changed."""

_MOST = 100  # changes of a transaction


@dataclass(eq=False)
class _Waiting:
    change: Change
    lasting: bool
    outcome: int | StoreError | None = None


class Together:
    """The one writer of a SQLite file in this process.

    Each transaction waits for the disk once, however many changes it holds: those that came while the one
    before was written share the next one. A change is reported as stored once it is, as if it had been
    alone: a lasting one once it is on the disk.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting: list[_Waiting] = []
        self._turn = asyncio.Lock()

    async def change(self, change: Change, *, lasting: bool) -> int:
        """Store a change, and return how many rows it changed; raises what `write` does."""
        own = _Waiting(change, lasting)
        self._waiting.append(own)
        async with self._turn:
            if own.outcome is None:  # else one that came earlier has taken it along
                await self._store_waiting()
        if isinstance(own.outcome, StoreError):
            raise own.outcome
        assert own.outcome is not None
        return own.outcome

    async def _store_waiting(self) -> None:
        group, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        try:
            try:
                rows = await self._write(
                    [waiting.change for waiting in group], any(waiting.lasting for waiting in group)
                )
            except StoreError as error:
                await self._store_alone(group, error)
                return
            for waiting, count in zip(group, rows, strict=True):
                waiting.outcome = count
        finally:
            for waiting in group:
                if waiting.outcome is None:  # whatever ended this ends all of the group
                    waiting.outcome = StoreUnreachableError("Writing was given up.", "Try it again.")

    async def _store_alone(self, group: Sequence[_Waiting], error: StoreError) -> None:
        """After a transaction that failed: one change may be the reason, and the others must not suffer."""
        if len(group) == 1 or isinstance(error, StoreUnreachableError):
            for waiting in group:
                waiting.outcome = error
            return
        for waiting in group:
            try:
                (waiting.outcome,) = await self._write([waiting.change], waiting.lasting)
            except StoreError as own:
                waiting.outcome = own
