"""The service with its workers, as a group of processes that is killed and started again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from benchmarks.chaos.memory import MemorySample


class ServiceProcess:
    """`citewell serve` with `environment`; `lines` are those of its log, through all restarts."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        """Start it in `folder` on a free port, which it keeps."""
        self._environment = dict(environment)
        self._folder = folder
        self._port = 0
        self.lines: list[str] = []
        self.url = ""
        self.start()

    def start(self) -> None:
        """Start it, or start it again; raises `RuntimeError` with its log if it ends at once."""
        program = str(Path(sys.executable).with_name("citewell"))
        self._process = subprocess.Popen(
            [program, "serve", "--port", str(self._port)],
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
            env=self._environment,
            cwd=self._folder,
            start_new_session=True,
        )
        assert self._process.stderr is not None
        first = self._process.stderr.readline()
        address = re.search(r"http://\S+:(\d+)", first)
        if address is None:
            raise RuntimeError(first + self._process.stderr.read())
        self.url, self._port = address[0], int(address[1])
        threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True).start()

    def stop(self) -> int:
        """End it as an administrator does; return the code with which it ends."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=120)

    def kill(self) -> None:
        """Kill all its processes at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def processes(self) -> list[psutil.Process]:
        """Return all its processes, also those whose parent has died."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, ProcessLookupError):
                if os.getsid(process.pid) == self._process.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def left(self, seconds: float) -> list[str]:
        """Return the commands of the processes that remain after `seconds`, once the service has ended."""
        end = time.monotonic() + seconds
        while (remaining := self.processes()) and time.monotonic() < end:
            time.sleep(0.1)
        return [" ".join(process.cmdline())[:200] for process in remaining if process.is_running()]

    def workers(self) -> list[psutil.Process]:
        """Return the processes that answer requests."""
        return self._named("spawn_main")

    def readers(self) -> list[psutil.Process]:
        """Return the confined processes that read pages."""
        return self._named("citewell.retriever.extract.worker")

    def memory(self) -> list[MemorySample]:
        """Return the resident memory of each worker, which does not depend on whether the others live."""
        found = []
        for process in self.workers():
            with suppress(psutil.Error):
                age = time.time() - process.create_time()
                megabytes = process.memory_info().rss / 1e6
                found.append(MemorySample(process.pid, age, megabytes))
        return found

    def _named(self, word: str) -> list[psutil.Process]:
        found = []
        for process in self.processes():
            with suppress(psutil.Error):
                if any(word in part for part in process.cmdline()):
                    found.append(process)
        return found

    def _read(self, log: IO[str]) -> None:
        with log:
            for line in log:
                self.lines.append(line.rstrip("\n"))
