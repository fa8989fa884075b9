"""The page of collections and indexing jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api import collections as api
from citewell.server.api.schemas import JobList, JobObject
from citewell.server.pages.replies import html
from citewell.server.services import Services

_ROWS = 10


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, with its message split into a summary and the failed pages."""

    job: JobObject
    summary: str
    failures: tuple[str, ...]


@get("/sources", opt={"scope": "ask"})
async def sources_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The collections, and with the scope `admin` the jobs."""
    collections = await api.list_collections.fn(services)
    may_index = "admin" in caller.scopes
    found = await api.list_jobs.fn(services, before=before, limit=_ROWS) if may_index else JobList([], None)
    return html(
        "sources.html",
        here="sources",
        title="Sources",
        collections=collections.collections,
        searched=collections.searched,
        may_index=may_index,
        has_key=caller.key_id is not None,
        takes_files=services.settings.server.sources is not None,
        being_filled={job.arguments.get("name") for job in found.jobs if job.status == "running"},
        jobs=[_view(job) for job in found.jobs],
        older=found.next,
    )


def _view(job: JobObject) -> JobView:
    summary, *failures = job.message.split("\n")
    return JobView(job, summary, tuple(failures))
