"""The pages to ask a question, to read an answer, and to browse the history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import Template

from citewell.core.text import shorten
from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.paging import Before, page_of
from citewell.server.api.question_schemas import MAX_PLACES
from citewell.server.api.visibility import visible_answer, visible_thread, whose
from citewell.server.pages.answer_view import turn_of, view_of
from citewell.server.pages.history_view import history_rows
from citewell.server.pages.icons import icons_of
from citewell.server.pages.modes import mode_of, modes, writer_of
from citewell.server.pages.replies import html
from citewell.server.pages.searched import chosen, examples, searched, set_up_for
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.feedback import opinion_of

_ROWS = 25


@get("/")
async def ask_page(
    services: NamedDependency[Services],
    question: Annotated[str, QueryParameter(max_length=20_000)] = "",
    words: Annotated[str, QueryParameter(name="q", max_length=20_000)] = "",
    collection: Annotated[list[str] | None, QueryParameter(max_items=MAX_PLACES)] = None,
    search: Annotated[list[str] | None, QueryParameter(max_items=MAX_PLACES)] = None,
    mode: Annotated[str, QueryParameter(max_length=300)] = "",
) -> Template:
    """The form for a question, filled in from the URL; `q` is asked at once."""
    return html(
        "ask.html",
        here="ask",
        question=words or question,
        at_once=bool(words.strip()),
        where=chosen({"collection": collection, "search": search}),
        set_up=await set_up_for(services),
        trains=services.settings.server.training,
        mode=mode,
        modes=modes(services),
        examples=examples(services.settings),
    )


@get("/answers/{answer_id:str}", opt={"scope": "ask"})
async def answer_page(
    services: NamedDependency[Services], caller: NamedDependency[Caller], answer_id: FromPath[str]
) -> Template:
    """An answer with its sources, or its progress, below the earlier turns of its conversation."""
    asked = await visible_answer(services, caller, answer_id)
    thread = await services.store.get().threads.answers(asked.thread, whose(caller))
    return await _answer_page(services, caller, [*(each for each in thread if each.id < asked.id), asked])


@get("/threads/{thread_id:str}", opt={"scope": "ask"})
async def thread_page(
    services: NamedDependency[Services], caller: NamedDependency[Caller], thread_id: FromPath[str]
) -> Template:
    """A conversation: its turns, the last one with its sources."""
    return await _answer_page(services, caller, await visible_thread(services, caller, thread_id))


async def _answer_page(services: Services, caller: Caller, thread: Sequence[StoredAnswer]) -> Template:
    """Return the page of the last of some answers of a conversation."""
    *earlier, answer = (answer_response(each) for each in thread)
    name = thread[0].title or thread[0].question
    view = view_of(answer) if answer.status == "done" else None
    feedback = await services.store.get().feedback.of_answer(answer.id)
    return html(
        "answer.html",
        here="",
        title=shorten(name if len(thread) > 1 else answer.question, 80),
        name=shorten(name, 200),
        earlier=[turn_of(each) for each in earlier],
        question="",
        at_once=False,
        where=chosen(answer.options),
        set_up=await set_up_for(services, caller),
        trains=services.settings.server.training,
        mode=mode_of(answer),
        modes=modes(services),
        answer=answer,
        view=view,
        opinion=opinion_of(feedback, caller.key_id),
        writes=bool(writer_of(answer)),
        icons=icons_of(services.settings, answer),
        searched=searched(services.settings, answer.options, answer.rewritten or answer.question),
    )


@get("/history", opt={"scope": "ask"})
async def history_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Before = None,
    words: Annotated[str, QueryParameter(name="query", max_length=1000)] = "",
) -> Template:
    """The questions of a key, newest first."""
    page = page_of(await services.store.get().answers.page(whose(caller), _ROWS + 1, before, words), _ROWS)
    older: dict[str, Any] = {"before": page.next} | ({"query": words} if words.strip() else {})
    return html(
        "history.html",
        here="history",
        title="History",
        rows=history_rows(page.rows, services.settings),
        query=words,
        is_first=before is None,
        older=f"/history?{urlencode(older)}" if page.next else None,
    )
