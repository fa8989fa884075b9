"""The page to compare two answers to a question blindly."""

from __future__ import annotations

import secrets
from typing import Annotated
from urllib.parse import urlencode

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.pages.answer_view import view_of
from citewell.server.pages.modes import modes
from citewell.server.pages.pairs import queue_of
from citewell.server.pages.replies import html
from citewell.server.services import Services
from citewell.server.studies.forms.scales import PREFERENCES, ComparisonScale
from citewell.server.studies.forms.webgpt import COHERENCE, FLAGS, OVERALL, PARTS, UNSUPPORTED

SCALES = (
    UNSUPPORTED,
    ComparisonScale(
        "usefulness",
        "Usefulness of the facts",
        "Which answer gives more of the requested information, counting only supported claims?",
    ),
    COHERENCE,
    OVERALL,
)
"""The criteria in the order of WebGPT, with one for the usefulness of all information."""
_MOST_LINKS = 20


@get("/compare", opt={"scope": "ask"})
async def compare_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    after: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The next pair to compare, in random order; `after` is the pair that was skipped."""
    queue = await queue_of(services.store.get(), caller)
    pair = queue.next(after)
    answers = [answer_response(answer) for answer in pair.different[:2]] if pair else []
    if secrets.randbits(1):
        answers.reverse()
    waiting = len(queue.pairs) - queue.compared
    return html(
        "compare.html",
        here="training",
        title="Compare",
        question=pair.question if pair else None,
        body={
            "question": pair.question if pair else "",
            "answers": [{"answer_id": answer.id} for answer in answers],
        },
        views=[view_of(answer) for answer in answers],
        skip=f"/compare?{urlencode({'after': pair.id})}" if pair and waiting > 1 else None,
        compared=queue.compared,
        total=len(queue.pairs),
        rankable=queue.rankable[:_MOST_LINKS],
        scales=SCALES,
        choices=PREFERENCES,
        parts=PARTS,
        flags=FLAGS,
        ways=dict(modes(services)),
    )
