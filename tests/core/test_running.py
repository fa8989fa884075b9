"""Asynchronous work that Ctrl-C ends, wherever the signal arrives."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time

import pytest

from citewell.core.running import run

_WAITS = """
import asyncio, signal, threading, time
from citewell.core.running import run

def interrupt():
    time.sleep(0.5)
    # The main thread does not get this signal: it waits for the network, and nothing wakes it.
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(60)

threading.Thread(target=interrupt, daemon=True).start()
try:
    run(asyncio.sleep(30))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of threads need a Unix system")
def test_a_signal_that_another_thread_gets_ends_a_wait() -> None:
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", _WAITS], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
    assert time.monotonic() - began < 20


def test_it_returns_the_result_and_leaves_signals_as_they_were() -> None:
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    assert run(asyncio.sleep(0, "done")) == "done"
    assert signal.set_wakeup_fd(before) == before


def test_it_passes_errors_on() -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(fails())


def test_it_runs_in_any_thread() -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(run(asyncio.sleep(0, "done"))))
    thread.start()
    thread.join()
    assert found == ["done"]
