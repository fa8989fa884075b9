"""Documents of a collection: added, listed and removed."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from litestar import Request, Response, delete, get, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.enums import RequestEncodingType
from litestar.exceptions import HTTPException
from litestar.params import Body, FromPath, QueryParameter

from citewell.core.errors import CitewellError, InputError
from citewell.core.server_settings import ServerSettings
from citewell.core.text import squeeze
from citewell.pipeline.adding import GivenDocument
from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.problems import reply_to_fault, reply_to_http_error
from citewell.server.api.schemas import DocumentList, DocumentSummary, JobObject, to
from citewell.server.services import Services
from citewell.server.work.documents import list_documents, remove_document
from citewell.server.work.filling import GivenDocuments
from citewell.server.work.scratch import scratch_folder

_MOST = 100  # documents of a request
_MAX_NAME = 200  # characters
_Url = Annotated[str, QueryParameter(max_length=8_000, description="The URL of the document.")]


@dataclass
class Documents:
    """Documents to add: files, and links to pages that are fetched."""

    file: list[UploadFile] = field(default_factory=list)
    link: list[str] = field(default_factory=list)


class TooLargeError(CitewellError):
    """A document is larger than the service accepts."""

    status = 413


def _reply_to_unreadable(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Return the reply for a form whose text cannot be decoded; codecs raise plain errors of these kinds."""
    if not isinstance(error, UnicodeDecodeError) and type(error) not in (
        LookupError,
        UnicodeError,
        ValueError,
    ):
        return reply_to_fault(request, error)
    detail = "A field of the form is not text in UTF-8, or in the charset that it names."
    return reply_to_http_error(request, HTTPException(status_code=400, detail=detail))


@post(
    "/v1/collections/{name:str}/documents",
    status_code=202,
    opt={"scope": "admin", "multipart": True},
    exception_handlers={LookupError: _reply_to_unreadable, ValueError: _reply_to_unreadable},
    summary="Add documents",
    responses=problems(body=True),
    response_description="The job was accepted.",
    tags=["collections"],
)
async def add_documents(
    services: NamedDependency[Services],
    name: FromPath[str],
    data: Annotated[Documents, Body(media_type=RequestEncodingType.MULTI_PART)],
) -> Response[JobObject]:
    """Add files and pages behind links to a collection, which is created if it does not exist.

    A document replaces the one with the same name. The job says what became of each document.
    """
    documents = await asyncio.to_thread(_kept, data, services.settings.server)
    try:
        job = await services.indexing.add(name, documents)
    except BaseException:
        documents.close()
        raise
    return Response(to(JobObject, job), headers={"Location": f"/v1/jobs/{job.id}"})


@get(
    "/v1/collections/{name:str}/documents",
    opt={"scope": "ask"},
    summary="List the documents",
    responses=problems(404, 409),
    tags=["collections"],
)
async def list_collection_documents(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    name: FromPath[str],
    words: Annotated[
        str,
        QueryParameter(
            name="query", max_length=1000, description="List the best documents for these words instead."
        ),
    ] = "",
    after: Annotated[
        str | None, QueryParameter(max_length=8_000, description="List only documents after this URL.")
    ] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=100, description="Max documents per page.")] = 20,
) -> DocumentList:
    """The documents of a collection, by URL."""
    await services.shared.check(caller, name)
    found = await asyncio.to_thread(list_documents, services.settings, name, words, after, limit)
    rows = [
        DocumentSummary(page.url, page.title, len(page.passages), page.date or None) for page in found.pages
    ]
    return DocumentList(rows, found.total, found.next)


@delete(
    "/v1/collections/{name:str}/documents",
    status_code=204,
    opt={"scope": "admin"},
    summary="Remove a document",
    responses=problems(404, 409),
    tags=["collections"],
)
async def remove_collection_document(
    services: NamedDependency[Services], name: FromPath[str], url: _Url
) -> None:
    """Remove a document from a collection. If its file or page is indexed again, it comes back."""
    await asyncio.to_thread(remove_document, services.settings, name, url)


DOCUMENTS = (add_documents, list_collection_documents, remove_collection_document)


def _kept(data: Documents, wanted: ServerSettings) -> GivenDocuments:
    """Keep the files in a folder; raise `InputError`, or `TooLargeError`."""
    links = [link.strip() for link in data.link if link.strip()]
    count = len(data.file) + len(links)
    if not 1 <= count <= _MOST:
        raise InputError(
            f"The request has {count} documents.", f"Send 1 to {_MOST} in the fields `file` and `link`."
        )
    folder = scratch_folder("documents")
    try:
        given = [_kept_file(upload, folder / str(number), wanted) for number, upload in enumerate(data.file)]
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return GivenDocuments([*given, *map(GivenDocument, links)], folder)


def _kept_file(upload: UploadFile, file: Path, wanted: ServerSettings) -> GivenDocument:
    name = _name(upload.filename)
    size = upload.file.seek(0, 2)
    if size > wanted.max_document:
        raise TooLargeError(
            f"{name} has more than {wanted.max_document / 1e6:,.0f} MB.", "server.max_document allows more."
        )
    upload.file.seek(0)
    with file.open("wb") as copy:
        shutil.copyfileobj(upload.file, copy)
    return GivenDocument(name, file)


def _name(text: str) -> str:
    """Return the name of a file without folders and without characters that cannot be seen."""
    last = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    shown = squeeze("".join(letter if letter.isprintable() else " " for letter in last))
    return shown[-_MAX_NAME:] or "document"
