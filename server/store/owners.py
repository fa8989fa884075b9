"""The owner process of an answer or a job, so that nobody waits for a dead process."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Table, select, update

from citewell.server.store.ids import new_id
from citewell.server.store.tables import ANSWERS, JOBS

_SILENCE = timedelta(hours=1)
STOPPED = {
    "type": "about:blank",
    "title": "Interrupted",
    "status": 503,
    "detail": "The service was stopped while it wrote this answer. Ask again.",
}
"""The problem of an answer whose process died."""


def this_process() -> str:
    """Return a unique name of this process; a later process with the same pid gets another name."""
    return _name(os.getpid())


@cache
def _name(number: int) -> str:
    return f"{socket.gethostname()}/{number}/{new_id()}"


def is_lost(owner: str, last: datetime) -> bool:
    """Return whether the process `owner`, which gave its last sign of life at `last`, is considered dead.

    It has ended, or was silent for an hour.
    """
    return _is_silent(last) or _is_dead(owner, last)


def end_interrupted(connection: Connection) -> None:
    """Mark the unfinished work of dead processes: answers as failed, jobs as interrupted.

    A process of this computer is dead if it does not run, a process of another one after an hour of silence.
    """
    for owner in _dead(connection, JOBS):
        statement = update(JOBS).where(JOBS.c.owner == owner, JOBS.c.status == "running")
        connection.execute(statement.values(status="interrupted", updated=datetime.now(UTC)))
    for owner in _dead(connection, ANSWERS):
        statement = update(ANSWERS).where(ANSWERS.c.owner == owner, ANSWERS.c.status == "running")
        connection.execute(statement.values(status="failed", problem=STOPPED))


def _dead(connection: Connection, table: Table) -> list[str]:
    last = table.c.updated if "updated" in table.c else table.c.created
    found = connection.execute(select(table.c.owner, last).where(table.c.status == "running")).all()
    latest: dict[str, datetime] = {}
    for owner, time in found:
        latest[owner] = max(time, latest.get(owner, time))
    return [owner for owner, time in latest.items() if _is_dead(owner, time)]


def _is_dead(owner: str, last: datetime) -> bool:
    if owner == this_process():
        return False
    host, number, _ = owner.rsplit("/", 2)
    if host != socket.gethostname() or os.name != "posix":
        return _is_silent(last)
    return int(number) == os.getpid() or not is_running(int(number))


def _is_silent(last: datetime) -> bool:
    return last < datetime.now(UTC) - _SILENCE


def is_running(number: int) -> bool:
    """Return whether this computer has a process with this number."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _has_ended(number)


def _has_ended(number: int) -> bool:
    """Return whether a process is over and only waits for its parent to notice (Linux)."""
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(") ")[2].startswith("Z")
    return False
