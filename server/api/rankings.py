"""Rankings of several answers by people."""

from __future__ import annotations

from datetime import UTC, datetime

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from citewell.core.errors import InputError
from citewell.server.access.authenticator import Caller
from citewell.server.api.comparisons import compared
from citewell.server.api.documented import problems
from citewell.server.api.schemas import Created, RankingRequest
from citewell.server.services import Services
from citewell.server.store.ids import new_id
from citewell.server.store.rankings import StoredRanking


@post(
    "/v1/rankings",
    opt={"scope": "feedback", "creates": True},
    summary="Rank several answers",
    responses=problems(404, 409, body=True),
    tags=["feedback"],
)
async def create_ranking(
    services: NamedDependency[Services], caller: NamedDependency[Caller], data: JSONBody[RankingRequest]
) -> Created:
    """Store the ranks of two to nine answers to a question. The ranking is on disk when this returns.

    `ranks` is in the order of the answers: 1 is best, and equal ranks are ties.
    """
    if len(data.ranks) != len(data.answers):
        raise InputError(
            f"There are {len(data.answers)} answers but {len(data.ranks)} ranks.", "Give each answer a rank."
        )
    ranking = StoredRanking(
        id=new_id(),
        key_id=caller.key_id,
        question=data.question,
        answers=[await compared(services, caller, answer) for answer in data.answers],
        ranks=data.ranks,
        comment=(data.comment or "").strip(),
        created=datetime.now(UTC),
    )
    await services.store.get().rankings.add(ranking)
    return Created(ranking.id)
