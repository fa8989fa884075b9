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
    """A criterion of a comparison: its name in the API, its title, and its question."""

    name: str
    title: str
    question: str


SCALES = (
    ComparisonScale(
        "unsupported",
        "Supported information",
        "Which answer has fewer claims that neither its sources nor common knowledge support?",
    ),
    ComparisonScale(
        "usefulness",
        "Usefulness of the facts",
        "Which answer gives more of the requested information, counting only supported claims?",
    ),
    ComparisonScale(
        "coherence", "Coherence", "Which answer is easier to follow, with correctly placed citations?"
    ),
    ComparisonScale(
        "overall",
        "Overall",
        "Overall, which answer is better? Weigh unsupported claims first, then whether the question is "
        "answered, then other helpful information, then coherence, then irrelevant content.",
    ),
)
"""The criteria in the order of WebGPT, and their weight in the overall rating (appendix C.2,
https://arxiv.org/abs/2112.09332)."""
TRUSTS = (("high", "High"), ("medium", "Medium"), ("low", "Low"))
SUPPORTS = (("strong", "Strong"), ("weak", "Weak"), ("none", "None"))
RELEVANCES = (("core", "Answers the question"), ("side", "Helps"), ("none", "Irrelevant"))
"""Levels of the optional parts, by their names in the API."""
_MOST_LINKS = 20
LEVELS = ((-2, "A much better"), (-1, "A better"), (0, "Equally good"), (1, "B better"), (2, "B much better"))


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
