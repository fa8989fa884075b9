"""Passages are opened once, again after a failure, and closed when nobody holds them."""

from __future__ import annotations

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
    until = time.monotonic() + 10
    while any(thread.name == "citewell" for thread in threading.enumerate()) and time.monotonic() < until:
        time.sleep(0.01)
    assert steps == ["open", "open", "closed"]
