"""List collections, and index sources with background jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Set as AbstractSet
from contextlib import closing

from litestar import Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from citewell.core.errors import CitewellError
from citewell.core.settings import Settings
from citewell.pipeline.chosen_providers import chosen_providers, searched_collections
from citewell.pipeline.collections import catalog_of, collection_names
from citewell.retriever.collection.protocol import Catalog
from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.paging import Before, Limit, page_of
from citewell.server.api.schemas import (
    CollectionList,
    CollectionSummary,
    IndexRequest,
    JobList,
    JobObject,
    SearchPlace,
    to,
)
from citewell.server.services import Services
from citewell.server.work.places import TITLES, place_choices
from citewell.server.work.public_urls import public_source


class NoJobError(CitewellError):
    """The job does not exist."""

    status = 404


@get(
    "/v1/collections",
    opt={"scope": "ask"},
    summary="List the collections",
    responses=problems(),
    tags=["collections"],
)
async def list_collections(
    services: NamedDependency[Services], caller: NamedDependency[Caller]
) -> CollectionList:
    """The collections that the key may read, with the number and the sources of their pages."""
    hidden = await services.shared.hidden(caller)
    return await asyncio.to_thread(_collections, services.settings, hidden)


@post(
    "/v1/collections",
    status_code=202,
    opt={"scope": "admin", "creates": True},
    summary="Index a source",
    responses=problems(502, body=True),
    response_description="The job was accepted.",
    tags=["collections"],
)
async def index_source(
    services: NamedDependency[Services], data: JSONBody[IndexRequest]
) -> Response[JobObject]:
    """Start indexing a source into a collection: a folder or file of the service, or a site to crawl.

    Unchanged documents are skipped. Pages at private addresses are not fetched.
    """
    job = await services.indexing.begin(data.name, data.source)
    return Response(to(JobObject, job), headers={"Location": f"/v1/jobs/{job.id}"})


@get("/v1/jobs", opt={"scope": "admin"}, summary="List the jobs", responses=problems(), tags=["collections"])
async def list_jobs(
    services: NamedDependency[Services],
    before: Before = None,
    limit: Limit = 20,
) -> JobList:
    """All jobs, newest first."""
    page = page_of(await services.store.get().jobs.page(limit + 1, before), limit)
    return JobList([to(JobObject, row) for row in page.rows], page.next)


@get(
    "/v1/jobs/{job_id:str}",
    opt={"scope": "admin"},
    summary="Read a job",
    responses=problems(404),
    tags=["collections"],
)
async def get_job(services: NamedDependency[Services], job_id: FromPath[str]) -> JobObject:
    """The progress of a job."""
    return await _job(services, job_id)


@delete(
    "/v1/jobs/{job_id:str}",
    status_code=200,
    opt={"scope": "admin"},
    summary="Cancel a job",
    responses=problems(404),
    tags=["collections"],
)
async def cancel_job(services: NamedDependency[Services], job_id: FromPath[str]) -> JobObject:
    """Cancel a job that is waiting or running. What it has indexed stays."""
    await services.indexing.cancel(job_id)
    return await _job(services, job_id)


async def _job(services: Services, job_id: str) -> JobObject:
    found = await services.store.get().jobs.get(job_id)
    if found is None:
        raise NoJobError(f"The job {job_id[:64]!r} does not exist.", "GET /v1/jobs lists the jobs.")
    shown: JobObject = to(JobObject, found)
    return shown


def _collections(settings: Settings, hidden: AbstractSet[str]) -> CollectionList:
    names = [name for name in collection_names(settings) if name not in hidden]
    rows = [describe_collection(settings, catalog_of(settings, name), name) for name in names]
    providers = [
        name
        for name in chosen_providers(settings.search)
        if hidden.isdisjoint(searched_collections([name], settings.search))
    ]
    searched = next(iter(searched_collections(providers, settings.search)), None)
    places = [SearchPlace(name, TITLES[name]) for name in place_choices(settings.search)]
    return CollectionList(rows, searched, providers, places)


def describe_collection(settings: Settings, catalog: Catalog, name: str) -> CollectionSummary:
    """Return what the API shows of a collection, also if that cannot be searched."""
    try:
        with closing(catalog.open(name)) as store:
            sources = [public_source(source, settings.server.sources) for source in store.sources()]
            return CollectionSummary(name, store.count(), store.size(), store.is_dense(), sources)
    except CitewellError as error:
        return CollectionSummary(name, None, None, vectors=False, sources=[], problem=error.message)
