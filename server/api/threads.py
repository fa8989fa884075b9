"""Conversations: list, read, rename, export and delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from litestar import Response, delete, get, patch
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.serialization import encode_json

from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.documented import problems, replies_as
from citewell.server.api.paging import Before, Limit, page_of
from citewell.server.api.schemas import RenameRequest, ThreadList, ThreadResponse, ThreadSummary, to
from citewell.server.api.visibility import NoThreadError, visible_thread, whose
from citewell.server.pages.markdown import thread_as_markdown
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer

MARKDOWN = "text/markdown"


@get(
    "/v1/threads", opt={"scope": "ask"}, summary="List conversations", responses=problems(), tags=["threads"]
)
async def list_threads(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Before = None,
    limit: Limit = 20,
) -> ThreadList:
    """The conversations of this key, newest first; those of all keys with the scope `admin`.

    A question without follow-ups is a conversation of its own.
    """
    page = page_of(await services.store.get().threads.page(whose(caller), limit + 1, before), limit)
    return ThreadList([to(ThreadSummary, row) for row in page.rows], page.next)


@get(
    "/v1/threads/{thread_id:str}",
    opt={"scope": "ask"},
    summary="Read a conversation",
    responses=problems(404),
    tags=["threads"],
)
async def get_thread(
    services: NamedDependency[Services], caller: NamedDependency[Caller], thread_id: FromPath[str]
) -> ThreadResponse:
    """A conversation with its questions and answers, oldest first."""
    return thread_response(await visible_thread(services, caller, thread_id))


@patch(
    "/v1/threads/{thread_id:str}",
    opt={"scope": "ask"},
    summary="Rename a conversation",
    responses=problems(404, body=True),
    tags=["threads"],
)
async def rename_thread(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    thread_id: FromPath[str],
    data: JSONBody[RenameRequest],
) -> ThreadResponse:
    """Give a conversation a name, which stands in place of its first question."""
    threads = services.store.get().threads
    if not await threads.rename(thread_id, whose(caller), data.title.strip()):
        raise NoThreadError(thread_id)
    return thread_response(await visible_thread(services, caller, thread_id))


@get(
    "/v1/threads/{thread_id:str}/export",
    opt={"scope": "ask"},
    summary="Export a conversation",
    responses={
        200: ResponseSpec(
            str, generate_examples=False, description="The conversation as a file.", media_type=MARKDOWN
        ),
        **problems(404),
    },
    media_type=MARKDOWN,
    operation_class=replies_as("application/json"),
    tags=["threads"],
)
async def export_thread(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    thread_id: FromPath[str],
    form: Annotated[
        Literal["markdown", "json"],
        QueryParameter(name="format", description="`json` is what reading a conversation gives."),
    ] = "markdown",
) -> Response[bytes]:
    """A conversation as a file: Markdown with footnotes for the cited sources, or JSON."""
    thread = thread_response(await visible_thread(services, caller, thread_id))
    is_json = form == "json"
    content = encode_json(thread) if is_json else thread_as_markdown(thread).encode()
    name = f"conversation-{thread.id[:13]}.{'json' if is_json else 'md'}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/json" if is_json else MARKDOWN, headers=headers)


@delete(
    "/v1/threads/{thread_id:str}",
    opt={"scope": "ask"},
    summary="Delete a conversation",
    responses=problems(404, 429),
    tags=["threads"],
)
async def delete_thread(
    services: NamedDependency[Services], caller: NamedDependency[Caller], thread_id: FromPath[str]
) -> None:
    """Delete the answers of a conversation, and cancel its running question. Feedback on them is kept."""
    for answer in await visible_thread(services, caller, thread_id):
        services.questions.forget(answer.id)
    await services.store.get().threads.delete(thread_id, whose(caller))


def thread_response(answers: Sequence[StoredAnswer]) -> ThreadResponse:
    """Convert the answers of a conversation, oldest first, to the API's form."""
    first = answers[0]
    shown = [answer_response(answer) for answer in answers]
    return ThreadResponse(first.thread, first.title or first.question, shown)


THREADS = (list_threads, get_thread, rename_thread, export_thread, delete_thread)
