"""The page to compare two answers to a question blindly."""

from __future__ import annotations

import secrets
from typing import Annotated, NamedTuple

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.pages.answer_view import view_of
from citewell.server.pages.pairs import queue_of
from citewell.server.pages.replies import html
from citewell.server.services import Services


class ComparisonScale(NamedTuple):
    """One respect in which answers are compared: its name in the API, its title, and what is asked."""

    name: str
    title: str
    question: str


SCALES = (
    ComparisonScale(
        "unsupported",
        "Supported information",
        "Which answer claims less that neither its sources nor common knowledge bear out?",
    ),
    ComparisonScale(
        "usefulness",
        "Usefulness of the facts",
        "Which answer tells more of what the question is after, counting only what is supported?",
    ),
    ComparisonScale(
        "coherence", "Coherence", "Which answer is easier to follow, with every citation in its place?"
    ),
    ComparisonScale(
        "overall",
        "Overall",
        "All in all, which answer would serve the asker better? Weigh unsupported claims first, then whether "
        "the question is answered, then what else helps, then coherence, then what is beside the point.",
    ),
)
"""What is rated, in the order of WebGPT, and what weighs most in the end (appendix C.2,
https://arxiv.org/abs/2112.09332)."""
TRUSTS = (("high", "High"), ("medium", "Medium"), ("low", "Low"))
SUPPORTS = (("strong", "Strong"), ("weak", "Weak"), ("none", "None"))
RELEVANCES = (("core", "Answers the question"), ("side", "Helps beside it"), ("none", "Beside the point"))
"""Levels of the optional parts, by their names in the API."""
_MOST_LINKS = 20
LEVELS = ((-2, "A much better"), (-1, "A better"), (0, "Equally good"), (1, "B better"), (2, "B much better"))


@get("/compare", opt={"scope": "ask"})
async def compare_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    after: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The next pair to be compared, in an order by chance; `after` is the pair that was left out."""
    queue = await queue_of(services.store.get(), caller)
    pair = queue.next(after)
    answers = [answer_response(answer) for answer in pair.different[:2]] if pair else []
    if secrets.randbits(1):
        answers.reverse()
    return html(
        "compare.html",
        here="compare",
        title="Compare",
        pair=pair,
        answers=[(answer, view_of(answer)) for answer in answers],
        compared=queue.compared,
        total=len(queue.pairs),
        rankable=queue.rankable[:_MOST_LINKS],
        waiting=len(queue.pairs) - queue.compared,
        scales=SCALES,
        levels=LEVELS,
        trusts=TRUSTS,
        supports=SUPPORTS,
        relevances=RELEVANCES,
    )
