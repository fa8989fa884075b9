"""Metrics of several processes as one: each writes files that all can read."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client.multiprocess import mark_process_dead

from citewell.server.work.scratch import scratch_prefix

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_KINDS = ("counter", "histogram", "gauge_livesum")  # of the files, as Prometheus's client names them
_BYTES = 262_144  # for the numbers of a kind, of which there are less than 2,000
_LOG = logging.getLogger("citewell.service")


@contextmanager
def sharing_metrics() -> Iterator[Path]:
    """Let processes that are started within the block share their metrics; yields the folder of the files.

    It is deleted at the end of the block, when the processes must have ended. They find it by a variable that
    Prometheus's client reads on import, so this process is not affected. Source:
    https://prometheus.github.io/client_python/multiprocess/
    """
    with TemporaryDirectory(prefix=scratch_prefix("metrics")) as folder:
        os.environ[_VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[_VARIABLE]


def shared_folder() -> str:
    """Return the folder in which this process shares its metrics; empty if it does not."""
    return os.environ.get(_VARIABLE, "")


def reserve(folder: str) -> None:
    """Take the room on the disk that the numbers of this process need; end the process if there is none.

    Prometheus's client maps its files into memory before they have room, and then a disk that gets full kills
    the process that counts (SIGBUS) in the middle of its work.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    for kind in _KINDS:
        file = Path(folder, f"{kind}_{os.getpid()}.db")
        partial = file.with_suffix(".partial")  # the other processes read only files that are whole
        try:
            with partial.open("wb") as opened:
                os.posix_fallocate(opened.fileno(), 0, _BYTES)
            partial.replace(file)
        except OSError as error:
            partial.unlink(missing_ok=True)
            _LOG.error("A process ends, since its metrics have no room in %s: %s", folder, error)
            raise SystemExit(1) from None


def forget_dead(folder: Path, living: Collection[int]) -> None:
    """Remove the gauges of dead processes from the sums; their counters stay."""
    found = {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}
    for pid in found.difference(living):
        mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]
