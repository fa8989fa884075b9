"""Parts that are opened, missed, and opened later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from citewell.core.errors import CitewellError
from citewell.server.work.errors import NotReadyError
from citewell.server.work.reconnecting import Reconnecting


class Part:
    """What can be opened after so many attempts that fail."""

    def __init__(self, failures: int = 0, error: type[Exception] = CitewellError) -> None:
        self.failures = failures
        self.error = error
        self.opened = asyncio.Event()
        self.closed = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str, None]:
        if self.failures:
            self.failures -= 1
            raise self.error("It is not there.")
        self.opened.set()
        yield "part"
        self.closed.set()


async def test_a_part_is_opened_and_closed() -> None:
    part = Part()
    opening = Reconnecting("part", part.open)
    with pytest.raises(NotReadyError):
        opening.get()
    await opening.start()
    assert opening.get() == "part"
    assert opening.problem is None
    await opening.close()
    assert part.closed.is_set()
    with pytest.raises(NotReadyError):
        opening.get()


async def test_a_part_that_is_missing_is_opened_later() -> None:
    part = Part(failures=1)
    opening = Reconnecting("part", part.open)
    await opening.start()
    with pytest.raises(NotReadyError, match="It is not there"):
        opening.get()
    assert "It is not there." in str(opening.problem)
    await asyncio.wait_for(part.opened.wait(), 60)
    await asyncio.sleep(0)
    assert opening.get() == "part"
    await opening.close()


async def test_a_part_that_is_never_there_does_not_keep_the_service_from_stopping() -> None:
    opening = Reconnecting("part", Part(failures=1_000).open)
    await opening.start()
    await asyncio.wait_for(opening.close(), 60)


async def test_a_fault_of_the_program_ends_the_start() -> None:
    with pytest.raises(ValueError, match="not there"):
        await Reconnecting("part", Part(failures=1, error=ValueError).open).start()
