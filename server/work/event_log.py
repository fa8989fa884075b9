"""The numbered events of one question: each of its followers reads all of them, from where it likes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

from citewell.core.events import (
    Browsed,
    Done,
    Event,
    Failed,
    Fetched,
    Notice,
    Ranked,
    Scored,
    Searched,
    Token,
)


class Numbered(NamedTuple):
    """One event: its number from 1, its name, and its values ready for JSON."""

    number: int
    name: str
    data: dict[str, Any]


class EventLog:
    """What happened to a question so far. It grows until it is closed."""

    def __init__(self) -> None:
        self._events: list[Numbered] = []
        self._changed = asyncio.Event()
        self.is_closed = False

    def add(self, name: str, data: dict[str, Any]) -> None:
        """Append an event, and wake those who follow."""
        self._events.append(Numbered(len(self._events) + 1, name, data))
        self._wake()

    def close(self) -> None:
        """Say that nothing follows."""
        self.is_closed = True
        self._wake()

    async def closed(self) -> None:
        """Wait until nothing follows."""
        while not self.is_closed:
            await self._changed.wait()

    async def follow(self, after: int, heartbeat: float) -> AsyncGenerator[Numbered | None, None]:
        """All events whose number is greater than `after`, to the last one of a closed log.

        Yields None whenever nothing happened for `heartbeat` seconds.
        """
        place = max(after, 0)
        while True:
            changed = self._changed
            while place < len(self._events):
                place += 1
                yield self._events[place - 1]
            if self.is_closed:
                return
            if changed is not self._changed:
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(heartbeat):
                    await changed.wait()
                continue
            yield None

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def named(event: Event) -> tuple[str, dict[str, Any]]:
    """The name of a pipeline's event in the API, and its values."""
    match event:
        case Searched():
            return "searched", asdict(event)
        case Browsed():
            return "browsed", asdict(event)
        case Fetched():
            return "fetched", asdict(event)
        case Failed(failure):
            return "failed", asdict(failure)
        case Ranked():
            return "ranked", asdict(event)
        case Notice(text):
            return "notice", {"text": text}
        case Token():
            return "token", asdict(event)
        case Scored(candidates, best):
            shown = [
                {"answer": candidate.text, "score": candidate.score, "value": candidate.value}
                for candidate in candidates
            ]
            return "scored", {"candidates": shown, "best": best}
        case Done(answer):
            return "done", answer.to_json()
