"""Ratings of single answers and their references by people."""

from __future__ import annotations

from datetime import UTC, datetime

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from citewell.core.errors import InputError
from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.schemas import Created, RatingRequest
from citewell.server.api.visibility import generator_of, visible_answer, written
from citewell.server.services import Services
from citewell.server.store.ids import new_id
from citewell.server.store.ratings import StoredRating
from citewell.server.studies.forms.scales import check_scores
from citewell.server.studies.forms.webglm import ANSWERS, REFERENCES
from citewell.server.studies.raters import named_rater


@post(
    "/v1/answers/{answer_id:str}/ratings",
    opt={"scope": "feedback", "creates": True},
    summary="Rate an answer and its references",
    responses=problems(404, 409, body=True),
    tags=["feedback"],
)
async def create_rating(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    answer_id: FromPath[str],
    data: JSONBody[RatingRequest],
) -> Created:
    """Store scores of an answer and of each of its references, on WebGLM's scales.

    They are on disk when this returns. Truthfulness may be omitted if the rater does not know. Without keys,
    `rater` is needed.
    """
    answer = await visible_answer(services, caller, answer_id)
    references, system = written(answer)["references"], generator_of(answer)
    if len(data.references) != len(references):
        raise InputError(
            f"There are {len(references)} references but {len(data.references)} sets of scores.",
            "Score each reference.",
        )
    check_scores(data.answer, ANSWERS, "The answer")
    for number, scores in enumerate(data.references, 1):
        check_scores(scores, REFERENCES, f"Reference {number}")
    rater, now = named_rater(caller, data.rater), datetime.now(UTC)
    ratings = [
        StoredRating(new_id(), rater, "answer", answer_id, data.answer, now, system),
        *(
            StoredRating(
                new_id(), rater, "reference", f"{answer_id}#{reference['number']}", scores, now, system
            )
            for reference, scores in zip(references, data.references, strict=True)
        ),
    ]
    await services.store.get().ratings.add_all(ratings)
    return Created(ratings[0].id)
