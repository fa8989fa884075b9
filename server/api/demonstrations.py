"""Demonstrations: started, browsed action by action, resumed, and submitted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from citewell.core.errors import CitewellError
from citewell.server.access.authenticator import Caller
from citewell.server.api.demonstration_schemas import (
    ActionRequest,
    Demonstration,
    DemonstrationList,
    DemonstrationRequest,
    DemonstrationSummary,
    EpisodeExport,
    SubmissionRequest,
)
from citewell.server.api.documented import problems
from citewell.server.api.jsonl import MEDIA_TYPE, json_lines, one_line
from citewell.server.api.paging import Before, Limit, page_of
from citewell.server.api.schemas import to
from citewell.server.api.visibility import is_visible, visible_answer, whose
from citewell.server.services import Services
from citewell.server.store.demonstrations import StoredDemonstration
from citewell.server.work.demonstrating import DemonstrationState
from citewell.server.work.options import QuestionOptions, listed
from citewell.server.work.pipelines import NoCollectionError
from citewell.server.work.public_urls import PublicUrls
from citewell.server.work.sharing import NothingToSearchError


class NoDemonstrationError(CitewellError):
    """The demonstration does not exist, or the key may not see it."""

    status = 404

    def __init__(self, demonstration_id: str) -> None:
        """Name the demonstration that was requested."""
        super().__init__(
            f"The demonstration {demonstration_id[:64]!r} does not exist.",
            "GET /v1/demonstrations lists your demonstrations.",
        )


class NoEpisodeError(CitewellError):
    """The answer has no episode, or the demonstration was not submitted."""

    status = 404

    def __init__(self, id_: str) -> None:
        """Name the answer whose episode was requested."""
        super().__init__(
            f"{id_[:64]!r} has no episode.",
            "Answers with the mode `browse` and submitted demonstrations have one.",
        )


@post(
    "/v1/demonstrations",
    opt={"scope": "ask", "asks": True},
    summary="Start a demonstration",
    responses=problems(404, body=True),
    tags=["demonstrations"],
)
async def begin_demonstration(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    data: JSONBody[DemonstrationRequest],
) -> Demonstration:
    """Start answering a question by hand with WebGPT's text browser."""
    pipelines = services.pipelines.get()
    options = QuestionOptions(question=data.question, mode="browse", collection=listed(data.collection))
    pipelines.check(options)
    await _check_place(services, caller, data.collection)
    await pipelines.web(options)  # raises an error if a package is missing
    seen = await services.demonstrations.begin(
        data.question,
        caller.key_id,
        pipelines.browser_limits(data.actions),
        collection=data.collection,
        reference=data.reference or "",
    )
    return await _shown(services, seen)


@post(
    "/v1/demonstrations/{demonstration_id:str}/actions",
    opt={"scope": "ask"},
    summary="Run a browser command",
    responses=problems(404, 409, 502, 504, body=True),
    tags=["demonstrations"],
)
async def give_command(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    demonstration_id: FromPath[str],
    data: JSONBody[ActionRequest],
) -> Demonstration:
    """Run one command of the text browser and return the new state. Invalid commands count as actions too."""
    demonstration = await visible_demonstration(services, caller, demonstration_id)
    await _check_place(services, caller, demonstration.options["collection"])
    return await _shown(services, await services.demonstrations.act(demonstration, data.command, data.after))


@post(
    "/v1/demonstrations/{demonstration_id:str}/submission",
    opt={"scope": "ask"},
    summary="Submit a demonstration",
    responses=problems(404, 409, body=True),
    tags=["demonstrations"],
)
async def submit_demonstration(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    demonstration_id: FromPath[str],
    data: JSONBody[SubmissionRequest],
) -> EpisodeExport:
    """Store the answer, once browsing has ended. The demonstration becomes an episode, which is returned.

    What was written is an answer from then on, under the same id: it can be read, compared and rated.
    """
    demonstration = await visible_demonstration(services, caller, demonstration_id)
    urls = await _public_urls(services, demonstration)
    episode: EpisodeExport = to(
        EpisodeExport, await services.demonstrations.submit(demonstration, data.answer or "", urls)
    )
    return episode


@get(
    "/v1/demonstrations/{demonstration_id:str}",
    opt={"scope": "ask"},
    summary="Resume a demonstration",
    responses=problems(404),
    tags=["demonstrations"],
)
async def get_demonstration(
    services: NamedDependency[Services], caller: NamedDependency[Caller], demonstration_id: FromPath[str]
) -> Demonstration:
    """A demonstration as it stands: what is in view, the quotes, and whether browsing has ended."""
    demonstration = await visible_demonstration(services, caller, demonstration_id)
    return await _shown(services, await services.demonstrations.see(demonstration))


@get(
    "/v1/demonstrations",
    opt={"scope": "ask"},
    summary="List demonstrations",
    responses=problems(),
    tags=["demonstrations"],
)
async def list_demonstrations(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Before = None,
    limit: Limit = 20,
) -> DemonstrationList:
    """The demonstrations of this key, newest first; those of all keys with the scope `admin`."""
    page = page_of(await services.store.get().demonstrations.page(whose(caller), limit + 1, before), limit)
    return DemonstrationList([to(DemonstrationSummary, row) for row in page.rows], page.next)


@delete(
    "/v1/demonstrations/{demonstration_id:str}",
    opt={"scope": "ask"},
    summary="Delete a demonstration",
    responses=problems(404, 429),
    tags=["demonstrations"],
)
async def delete_demonstration(
    services: NamedDependency[Services], caller: NamedDependency[Caller], demonstration_id: FromPath[str]
) -> None:
    """Delete a demonstration with all that it saw, submitted or not, and its answer."""
    await visible_demonstration(services, caller, demonstration_id)
    services.demonstrations.forget(demonstration_id)
    store = services.store.get()
    await store.answers.delete(demonstration_id)
    if not await store.demonstrations.delete(demonstration_id):
        raise NoDemonstrationError(demonstration_id)


@get(
    "/v1/demonstrations/{demonstration_id:str}/episode",
    opt={"scope": "ask"},
    summary="Read the episode of a demonstration",
    responses=problems(404),
    tags=["demonstrations"],
)
async def get_demonstration_episode(
    services: NamedDependency[Services], caller: NamedDependency[Caller], demonstration_id: FromPath[str]
) -> EpisodeExport:
    """Every state and command of a submitted demonstration, its quotes and its answer."""
    await visible_demonstration(services, caller, demonstration_id)
    return _episode(await services.store.get().demonstrations.episode(demonstration_id), demonstration_id)


@get(
    "/v1/demonstrations/{demonstration_id:str}/recording",
    opt={"scope": "ask"},
    summary="Read the recording of a demonstration",
    responses={
        200: json_lines("One JSON object per search or page, as `citewell browse --replay` reads them."),
        **problems(404),
    },
    media_type=MEDIA_TYPE,
    tags=["demonstrations"],
)
async def get_demonstration_recording(
    services: NamedDependency[Services], caller: NamedDependency[Caller], demonstration_id: FromPath[str]
) -> bytes:
    """What each search and each opened page returned, to replay the episode offline."""
    demonstration = await visible_demonstration(services, caller, demonstration_id)
    urls = await _public_urls(services, demonstration)
    entries = await services.demonstrations.recording(demonstration)
    return b"".join(
        one_line(urls.outside(replace(entry, key=urls.name(entry.key)))) + b"\n" for entry in entries
    )


@get(
    "/v1/answers/{answer_id:str}/episode",
    opt={"scope": "ask"},
    summary="Read the episode of an answer",
    responses=problems(404),
    tags=["answers"],
)
async def get_answer_episode(
    services: NamedDependency[Services], caller: NamedDependency[Caller], answer_id: FromPath[str]
) -> EpisodeExport:
    """Every state and command that led to an answer with the mode `browse`, with the quotes."""
    await visible_answer(services, caller, answer_id)
    return _episode(await services.store.get().answers.episode(answer_id), answer_id)


async def visible_demonstration(
    services: Services, caller: Caller, demonstration_id: str
) -> StoredDemonstration:
    """Return the demonstration with an id; raises `NoDemonstrationError` if the caller may not see it."""
    found = await services.store.get().demonstrations.get(demonstration_id)
    if found is None or not is_visible(caller, found.key_id):
        raise NoDemonstrationError(demonstration_id)
    return found


async def _check_place(services: Services, caller: Caller, collection: str | None) -> None:
    """Raise an error if the caller may not read the collection, or else all that is set up."""
    asked = QuestionOptions("", collection=listed(collection))
    if await services.shared.allowed(asked, caller) != asked:
        raise NothingToSearchError


async def _public_urls(services: Services, demonstration: StoredDemonstration) -> PublicUrls:
    """Return the public URLs of what was browsed, even if the collection was deleted since."""
    collection = demonstration.options["collection"]
    try:
        return await services.pipelines.get().public_urls(QuestionOptions("", collection=listed(collection)))
    except NoCollectionError:
        return PublicUrls({collection or "": ()})


async def _shown(services: Services, seen: DemonstrationState) -> Demonstration:
    """Convert a demonstration to the API's form."""
    stored, state, last = seen.demonstration, seen.state, seen.last
    urls = await _public_urls(services, stored)
    links = [
        {"id": number, "text": link.text, "domain": link.domain or None}
        for number, link in state.links.items()
    ]
    values: dict[str, Any] = {
        "id": stored.id,
        "status": stored.status,
        "question": stored.question,
        "created": stored.created,
        "count": stored.count,
        "actions_left": state.actions_left,
        "quotes": [
            {
                "number": number,
                "title": q.title,
                "domain": q.domain or None,
                "url": urls.name(q.url),
                "text": q.text,
            }
            for number, q in enumerate(seen.quotes, 1)
        ],
        "view": {
            "title": state.title or None,
            "first": state.first,
            "last": state.last,
            "lines": state.lines,
            "text": state.text,
            "links": links,
            "can_go_back": state.can_go_back,
        },
        "last": last and {"command": last.command, "valid": last.kind != "invalid", "reason": last.reason},
        "ending": seen.ended,
    }
    view: Demonstration = to(Demonstration, values)
    return view


def _episode(stored: dict[str, Any] | None, id_: str) -> EpisodeExport:
    if stored is None:
        raise NoEpisodeError(id_)
    episode: EpisodeExport = to(EpisodeExport, stored)
    return episode
