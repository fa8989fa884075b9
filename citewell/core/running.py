"""Running asynchronous work so that Ctrl-C ends it at once."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do what `asyncio.run` does; raises `KeyboardInterrupt` at Ctrl-C even where nothing else happens.

    Python handles a signal in the main thread, which a signal does not wake when it arrives in another
    thread, or just before the main thread begins to wait
    (https://docs.python.org/3/library/signal.html#signal.set_wakeup_fd). `asyncio.run` then handles Ctrl-C
    only when the next network packet or timer wakes it.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work)

    async def woken() -> T:
        with _waking(asyncio.get_running_loop()):
            return await work

    return asyncio.run(woken())


@contextmanager
def _waking(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let signals wake the loop by writing to a socket that it reads."""
    woken, waking = socket.socketpair()
    with woken, waking:
        woken.setblocking(False)
        waking.setblocking(False)
        try:
            loop.add_reader(woken, lambda: woken.recv(4096))
        except NotImplementedError:  # on Windows, where signals wake the loop
            yield
            return
        before = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(woken)
