"""Blocking work in threads."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from functools import partial

import pytest

from citewell.core.threads import in_own_thread, in_thread

SECONDS = 60
WHO = contextvars.ContextVar("WHO", default="nobody")


async def test_work_that_waits_in_its_own_thread_keeps_nobody_waiting() -> None:
    go = threading.Event()
    many = (os.cpu_count() or 1) + 40  # asyncio has at most 32 threads
    waiting = [asyncio.create_task(in_own_thread(partial(go.wait, SECONDS))) for _ in range(many)]
    await asyncio.sleep(0)
    assert await asyncio.wait_for(in_thread(lambda: "done"), SECONDS / 2) == "done"
    go.set()
    assert await asyncio.gather(*waiting) == [True] * many


async def test_work_in_its_own_thread_knows_its_caller_and_raises_its_errors() -> None:
    WHO.set("Ada")
    assert await in_own_thread(WHO.get) == "Ada"
    with pytest.raises(ZeroDivisionError):
        await in_own_thread(lambda: 1 // 0)


async def test_a_cancelled_caller_goes_on_when_the_work_has_ended() -> None:
    begun, stop, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        if stop.wait(SECONDS):
            ended.set()

    working = asyncio.create_task(in_own_thread(work, stop=stop.set))
    assert await asyncio.to_thread(begun.wait, SECONDS)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended.is_set()
