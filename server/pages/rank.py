"""The page to rank several answers to a question blindly."""

from __future__ import annotations

import random

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.visibility import NoAnswerError
from citewell.server.pages.answer_view import view_of
from citewell.server.pages.pairs import queue_of
from citewell.server.pages.replies import html
from citewell.server.services import Services


@get("/compare/{answer_id:str}", opt={"scope": "ask"})
async def rank_page(
    services: NamedDependency[Services], caller: NamedDependency[Caller], answer_id: FromPath[str]
) -> Template:
    """All different answers to the question of the answer with this id, in random order."""
    queue = await queue_of(services.store.get(), caller)
    found = queue.having(answer_id)
    if found is None:
        raise NoAnswerError(answer_id)
    answers = [answer_response(answer) for answer in found.different]
    random.SystemRandom().shuffle(answers)
    return html(
        "rank.html",
        here="training",
        title="Rank",
        question=found.question,
        body={
            "question": found.question,
            "answers": [{"answer_id": answer.id} for answer in answers],
            "ranks": [],
        },
        views=[view_of(answer) for answer in answers],
    )
