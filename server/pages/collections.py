"""The pages of collections: all of them with the jobs, the documents of one, and one document."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import Template

from citewell.pipeline.collections import HANDBOOK
from citewell.retriever.collection.adding import ADDED
from citewell.server.access.authenticator import Caller
from citewell.server.api import collections as api
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.documents import list_collection_documents
from citewell.server.api.schemas import JobList, JobObject
from citewell.server.api.visibility import visible_answer
from citewell.server.pages.document_view import document_view
from citewell.server.pages.links import document_address, web_address
from citewell.server.pages.replies import html
from citewell.server.pages.sharing import possible_readers
from citewell.server.services import Services
from citewell.server.work.documents import has_sources, read_document

_ROWS = 10
_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, with its message split into a summary and the failed pages."""

    job: JobObject
    summary: str
    failures: tuple[str, ...]


@get("/collections", opt={"scope": "ask"})
async def collections_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The collections, and with the scope `admin` the jobs."""
    collections = await api.list_collections.fn(services, caller)
    may_index = "admin" in caller.scopes
    found = await api.list_jobs.fn(services, before=before, limit=_ROWS) if may_index else JobList([], None)
    return html(
        "collections.html",
        here="collections",
        title="Collections",
        collections=collections.collections,
        searched=collections.searched,
        may_index=may_index,
        has_key=caller.key_id is not None,
        takes_files=services.settings.server.sources is not None,
        added=ADDED,
        restricted=await services.shared.hidden(None) if may_index else frozenset(),
        being_filled={job.arguments.get("name") for job in found.jobs if job.status == "running"},
        jobs=[_view(job) for job in found.jobs],
        older=found.next,
    )


@get("/collections/{name:str}", opt={"scope": "ask"})
async def collection_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    name: FromPath[str],
    words: Annotated[str, QueryParameter(name="query", max_length=1000)] = "",
    after: Annotated[str | None, QueryParameter(max_length=8_000)] = None,
) -> Template:
    """The documents of a collection."""
    found = await list_collection_documents.fn(
        services, caller, name=name, words=words, after=after, limit=_DOCUMENTS
    )
    may_change = "admin" in caller.scopes and name != HANDBOOK
    return html(
        "collection.html",
        here="collections",
        title=name,
        name=name,
        total=found.total,
        query=words,
        documents=[
            (each, document_address(name, each.url), web_address(each.url)) for each in found.documents
        ],
        is_first=after is None,
        more=f"/collections/{name}?{urlencode({'after': found.next})}" if found.next else None,
        may_index="admin" in caller.scopes,
        is_own=name != HANDBOOK,
        readers=await possible_readers(services, name) if may_change else [],
        may_refresh=may_change and await asyncio.to_thread(has_sources, services.settings, name),
    )


@get("/collections/{name:str}/document", opt={"scope": "ask"})
async def document_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    name: FromPath[str],
    url: Annotated[str, QueryParameter(max_length=8_000)],
    answer: Annotated[str, QueryParameter(max_length=64)] = "",
    reference: Annotated[int, QueryParameter(ge=0)] = 0,
    start: Annotated[int | None, QueryParameter(ge=0)] = None,
) -> Template:
    """A document, open at the passage of a reference, with the words marked that support the answer."""
    await services.shared.check(caller, name)
    page = await asyncio.to_thread(read_document, services.settings, name, url)
    cited = answer_response(await visible_answer(services, caller, answer)) if answer else None
    view = document_view(page, cited, reference, start)
    same = {"url": url} | ({"answer": answer, "reference": reference} if answer else {})
    return html(
        "document.html",
        here="collections",
        title=page.title,
        name=name,
        page=page,
        view=view,
        web=web_address(url),
        answer=cited,
        address=f"/collections/{name}/document?{urlencode(same)}",
    )


def _view(job: JobObject) -> JobView:
    summary, *failures = job.message.split("\n")
    return JobView(job, summary, tuple(failures))
