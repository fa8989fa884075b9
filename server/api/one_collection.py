"""One collection: whether it exists, what it holds, its refresh, and its end."""

from __future__ import annotations

import asyncio

from litestar import Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from citewell.core.errors import CitewellError
from citewell.pipeline.collections import catalog_of, collection_names
from citewell.server.access.authenticator import Caller
from citewell.server.api.collections import describe_collection
from citewell.server.api.documented import problems
from citewell.server.api.schemas import CollectionSummary, JobObject, to
from citewell.server.services import Services
from citewell.server.work.documents import refuse_handbook
from citewell.server.work.pipelines import NoCollectionError


class CollectionBusyError(CitewellError):
    """A job is filling the collection."""

    status = 409

    def __init__(self, name: str, job_id: str) -> None:
        """Name the collection and the job."""
        super().__init__(
            f"A job is filling the collection {name!r}.", f"DELETE /v1/jobs/{job_id} cancels the job."
        )


@get(
    "/v1/collections/{name:str}",
    opt={"scope": "ask"},
    summary="Read a collection",
    responses=problems(404),
    tags=["collections"],
)
async def get_collection(
    services: NamedDependency[Services], caller: NamedDependency[Caller], name: FromPath[str]
) -> CollectionSummary:
    """The number and the sources of the pages of a collection."""
    await services.shared.check(caller, name)
    await check_existence(services, name)
    settings = services.settings
    return await asyncio.to_thread(describe_collection, settings, catalog_of(settings, name), name)


@post(
    "/v1/collections/{name:str}/refresh",
    status_code=202,
    opt={"scope": "admin", "creates": True},
    summary="Refresh a collection",
    responses=problems(404, 409, 429),
    response_description="The job was accepted.",
    tags=["collections"],
)
async def refresh_collection(services: NamedDependency[Services], name: FromPath[str]) -> Response[JobObject]:
    """Read the folders, files, sites and links of a collection again.

    Changed documents are replaced, and those that are gone are removed and named in the message of the job.
    Documents that were sent to the collection stay.
    """
    await check_existence(services, name)
    job = await services.indexing.refresh(name)
    return Response(to(JobObject, job), headers={"Location": f"/v1/jobs/{job.id}"})


@delete(
    "/v1/collections/{name:str}",
    opt={"scope": "admin"},
    summary="Delete a collection",
    responses=problems(404, 409, 429),
    tags=["collections"],
)
async def delete_collection(services: NamedDependency[Services], name: FromPath[str]) -> None:
    """Delete a collection and all its pages. Answers from it are kept."""
    await check_existence(services, name)
    refuse_handbook(name)
    for job in await services.store.get().jobs.running():
        if job.arguments.get("name") == name:
            raise CollectionBusyError(name, job.id)
    await asyncio.to_thread(catalog_of(services.settings, name).remove, name)


async def check_existence(services: Services, name: str) -> None:
    """Raise `NoCollectionError` if there is no collection with this name."""
    names = await asyncio.to_thread(collection_names, services.settings)
    if name not in names:
        raise NoCollectionError(name, names)
