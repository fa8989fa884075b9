"""Passages are opened once, again after a failure, and closed when nobody holds them."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from citewell.core.errors import InputError
from citewell.core.types import Reference
from citewell.integrations.holding import HeldPassages
from citewell.integrations.passages import Find

_FOUND = (Reference(1, "https://a.example/", "A", "Text.", 0.5),)


def test_a_failed_opening_is_tried_again_and_the_thread_ends_with_its_holder() -> None:
    steps: list[str] = []

    @asynccontextmanager
    async def opener() -> AsyncGenerator[Find, None]:
        steps.append("open")
        if len(steps) == 1:
            raise InputError("Not yet.")

        async def find(question: str) -> tuple[Reference, ...]:
            return _FOUND

        yield find
        steps.append("closed")

    held = HeldPassages(opener)
    with pytest.raises(InputError, match="Not yet"):
        held.find("?")
    assert held.find("?") == held.find("?") == _FOUND
    assert steps == ["open", "open"]
    del held
    gc.collect()
    _wait_for_threads()
    assert steps == ["open", "open", "closed"]


def test_passages_close_where_their_own_thread_lets_go_of_them_last() -> None:
    steps: list[str] = []
    holders: list[HeldPassages] = []

    @asynccontextmanager
    async def opener() -> AsyncGenerator[Find, None]:
        async def find(question: str) -> tuple[Reference, ...]:
            asyncio.get_running_loop().call_later(0.2, let_go)
            return _FOUND

        yield find
        steps.append("closed")

    def let_go() -> None:
        holders.clear()
        gc.collect()
        steps.append(threading.current_thread().name)

    holders.append(HeldPassages(opener))
    assert holders[0].find("?") == _FOUND
    _wait_for_threads()
    assert steps == ["citewell", "closed"]


def _wait_for_threads() -> None:
    until = time.monotonic() + 10
    while any(thread.name == "citewell" for thread in threading.enumerate()) and time.monotonic() < until:
        time.sleep(0.01)
