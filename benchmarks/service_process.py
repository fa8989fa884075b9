"""A service in a separate process, on separate cores."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil


class Served:
    """A running `citewell serve`."""

    def __init__(self, url: str, process: psutil.Process) -> None:
        self.url = url
        self._process = process

    def megabytes(self) -> float:
        """Return the megabytes of the service and its children; shared memory counts once (PSS, Linux)."""
        total = 0
        for process in (self._process, *self._process.children(recursive=True)):
            try:
                total += process.memory_full_info().pss
            except psutil.NoSuchProcess:
                continue  # a child that has ended meanwhile
        return total / 1e6


@contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Limit processes and threads that begin here to these cores; none means all (Linux)."""
    before = os.sched_getaffinity(0)
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def served(settings: Mapping[str, object], cores: Sequence[int]) -> Iterator[Served]:
    """Run the service with these settings until the end of the block; raises `RuntimeError` with its log."""
    assignments = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    command = [str(Path(sys.executable).with_name("citewell")), "serve", "--port", "0", *assignments]
    with (
        pinned(cores),
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            address = re.search(r"http://\S+", line)
            if address is None:
                raise RuntimeError(line + process.stderr.read())
            # The log is read, so that the pipe cannot fill up and block the service.
            reader = threading.Thread(target=process.stderr.read, daemon=True)
            reader.start()
            yield Served(address[0], psutil.Process(process.pid))
        finally:
            process.terminate()
