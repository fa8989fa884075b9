"""The service that is attacked: a process of its own, with a data folder that is deleted afterwards."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.chaos.process import ServiceProcess
from benchmarks.small_service import environment, index_notes, store_keys
from citewell.server.access.keys import NewKey

COLLECTION = "notes"
_READY_SECONDS = 60.0
_PRIVATE = "Open http"  # the line of the log whose address has the token of the owner, for the owner's eyes


@dataclass
class Target:
    """A service to attack: its address, its folder and the lines of its log so far."""

    url: str
    folder: Path
    all_lines: list[str] = field(default_factory=list)
    process: ServiceProcess | None = None

    @property
    def lines(self) -> list[str]:
        """The lines of the log, without the one that shows the owner's address."""
        return [line for line in self.all_lines if not line.startswith(_PRIVATE)]

    @property
    def port(self) -> int:
        """The port that the service listens on."""
        return httpx.URL(self.url).port or 80

    @contextmanager
    def client(self, key: NewKey | None = None, seconds: float = 60.0) -> Iterator[httpx.Client]:
        """Open a client of the service, with a key if one is given."""
        headers = {"Authorization": f"Bearer {key.secret}"} if key else {}
        with httpx.Client(base_url=self.url, headers=headers, timeout=seconds, trust_env=False) as client:
            yield client

    def tracebacks(self) -> list[str]:
        """Return the lines of the log at which a fault of the service itself begins."""
        return [line[:300] for line in self.lines if "Traceback (most recent" in line]

    def is_well(self) -> str:
        """Return why the service does not answer at once, or ""."""
        try:
            with self.client(seconds=10) as client:
                status = client.get("/health").status_code
        except httpx.HTTPError as error:
            return f"/health: {type(error).__name__}"
        return "" if status == 200 else f"/health: {status}"


@contextmanager
def open_target(keys: Iterable[NewKey] = (), **settings: object) -> Iterator[Target]:
    """Run a service with a collection of notes until the end of the block; `settings` are as
    `server__queue=3`."""
    with tempfile.TemporaryDirectory(prefix="citewell-hostile-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        data = folder / "data"
        (folder / "tmp").mkdir()
        index_notes(data, COLLECTION)
        asyncio.run(store_keys(f"sqlite:///{data / 'citewell.sqlite3'}", keys))
        process = ServiceProcess(_variables(folder, settings), folder)
        try:
            target = Target(process.url, folder, process.lines, process)
            _await_ready(target)
            yield target
        finally:
            process.kill()


def _variables(folder: Path, settings: Mapping[str, object]) -> dict[str, str]:
    usual = {
        "data_dir": folder / "data",
        "generator__name": "extractive",
        "search__collection": COLLECTION,
        "server__rate_per_minute": 0,
        "server__drain_seconds": 1,
        "fetch__cache": "false",
        "retriever__k": 2,
        "retriever__prefilter": 2,
        "threads": 1,
    }
    return environment({**usual, **settings}) | {"TMPDIR": str(folder / "tmp")}


def _await_ready(target: Target) -> None:
    end = time.monotonic() + _READY_SECONDS
    with target.client() as client:
        while client.get("/ready").status_code != 200 and time.monotonic() < end:
            time.sleep(0.05)
