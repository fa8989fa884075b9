"""Stored background jobs, such as indexing, and their progress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import RowMapping, insert, select, update

from citewell.server.store.connection import Database
from citewell.server.store.newest import newest
from citewell.server.store.owners import is_lost, this_process
from citewell.server.store.tables import JOBS

JobStatus = Literal["running", "done", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True)
class StoredJob:
    """One job; `done` of `total` parts are finished, if the total is known.

    A job whose process died is `interrupted`: at once on the same computer, elsewhere after an hour without
    an update.
    """

    id: str
    kind: str
    status: JobStatus
    done: int
    total: int | None
    message: str
    created: datetime
    updated: datetime
    arguments: dict[str, Any]
    documents: list[dict[str, Any]] | None = None
    """What became of each document of a job that was given documents one by one."""


_COLUMNS = [*(JOBS.c[name] for name in StoredJob.__dataclass_fields__), JOBS.c.owner]


class JobStore:
    """The stored jobs. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, job: StoredJob) -> None:
        """Store a new job; it belongs to this process."""
        await self._database.change(insert(JOBS).values(vars(job) | {"owner": this_process()}))

    async def update(
        self,
        id_: str,
        *,
        status: JobStatus | None = None,
        done: int | None = None,
        total: int | None = None,
        message: str | None = None,
        documents: list[dict[str, Any]] | None = None,
    ) -> bool:
        """Change the given values and the time of the update; returns False unless the job is running."""
        given = {"status": status, "done": done, "total": total, "message": message, "documents": documents}
        values = {name: value for name, value in given.items() if value is not None}
        is_running = (JOBS.c.id == id_) & (JOBS.c.status == "running")
        statement = update(JOBS).where(is_running).values(values | {"updated": datetime.now(UTC)})
        return await self._database.change(statement) > 0

    async def get(self, id_: str) -> StoredJob | None:
        """Return one job, or None."""
        rows = await self._database.rows(select(*_COLUMNS).where(JOBS.c.id == id_))
        return _job(rows[0]) if rows else None

    async def running(self) -> list[StoredJob]:
        """Return the jobs whose processes run."""
        rows = await self._database.rows(select(*_COLUMNS).where(JOBS.c.status == "running"))
        return [job for job in map(_job, rows) if job.status == "running"]

    async def page(self, limit: int, before: str | None = None) -> list[StoredJob]:
        """Return the newest jobs, at most `limit`; `before` skips that job and all newer ones."""
        statement = newest(_COLUMNS, JOBS.c.id, limit, before)
        return [_job(row) for row in await self._database.rows(statement)]


def _job(row: RowMapping) -> StoredJob:
    values = dict(row)
    owner = values.pop("owner")
    job = StoredJob(**values)
    is_over = job.status == "running" and is_lost(owner, job.updated)
    return replace(job, status="interrupted") if is_over else job
