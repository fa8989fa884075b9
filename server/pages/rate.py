"""The pages to rate answers and references, and to see the results."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.visibility import generator_of, whose
from citewell.server.pages.answer_view import view_of
from citewell.server.pages.replies import html
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.studies.forms.scales import RatingScale
from citewell.server.studies.forms.webglm import ANSWERS, REFERENCES
from citewell.server.studies.raters import rater_of
from citewell.server.studies.report.coefficients import krippendorff_alpha

_RECENT = 200  # newest answers from which the page picks one to rate


class Column(NamedTuple):
    """One scale in the table of results: its means by model, and the agreement of raters; None if unknown."""

    scale: RatingScale
    means: dict[str, float]
    agreement: float | None


class Results(NamedTuple):
    """The results of the ratings of one kind: their number per model, and a column per scale."""

    title: str
    counts: dict[str, int]
    columns: tuple[Column, ...]


@get("/rate", opt={"scope": "ask"})
async def rate_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    rater: Annotated[str, QueryParameter(max_length=100)] = "",
    after: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The newest answer that this rater has not rated; `after` is the answer that was skipped."""
    store = services.store.get()
    needs_name = caller.key_id is None and not rater.strip()
    answers = [] if needs_name else await _rateable(store, caller)
    rated = await store.ratings.items_of(rater_of(caller, rater))
    waiting = [answer for answer in answers if answer.id not in rated]
    older = [answer for answer in waiting if after and answer.id < after]
    chosen = next(iter(older + waiting), None)
    answer = answer_response(chosen) if chosen else None
    view = view_of(answer) if answer else None
    again = f"/rate?{urlencode({'rater': rater})}"
    return html(
        "rate.html",
        here="training",
        title="Rate",
        needs_name=needs_name,
        answer=answer,
        view=view,
        body={"rater": rater, "answer": {}, "references": [{} for _ in view.sources]} if view else {},
        again=again,
        rated=len(answers) - len(waiting),
        total=len(answers),
        skip=f"{again}&{urlencode({'after': chosen.id})}" if chosen and len(waiting) > 1 else None,
        answer_scales=ANSWERS,
        reference_scales=REFERENCES,
        may_see_results="export" in caller.scopes,
    )


@get("/rate/results", opt={"scope": "export"})
async def ratings_page(services: NamedDependency[Services]) -> Template:
    """The mean of each scale by the model that wrote the answer, and the agreement of raters."""
    store = services.store.get()
    return html(
        "ratings.html",
        here="training",
        title="Ratings",
        results=[
            await _results(store, "References", "reference", REFERENCES),
            await _results(store, "Answers", "answer", ANSWERS),
        ],
    )


async def _rateable(store: ServiceStore, caller: Caller) -> list[StoredAnswer]:
    """Return the newest answers of the history, without those from the cache."""
    page = await store.answers.page(whose(caller), _RECENT)
    return [
        answer
        for answer in page
        if answer.body and answer.body["outcome"] == "answered" and not answer.settings.get("cached")
    ]


async def _results(store: ServiceStore, title: str, kind: str, scales: tuple[RatingScale, ...]) -> Results:
    models: dict[str, str] = {}
    latest = {
        (rating.rater, rating.item): rating
        async for rating in store.ratings.each()
        if rating.kind == kind and rating.study_item_id is None
    }
    by_model: dict[str, list[dict[str, int]]] = defaultdict(list)
    by_item: dict[str, list[dict[str, int]]] = defaultdict(list)
    for (_, item), rating in latest.items():
        answer_id = item.partition("#")[0]
        if answer_id not in models:
            answer = None if rating.system else await store.answers.get(answer_id)
            models[answer_id] = rating.system or (generator_of(answer) if answer else None) or "not known"
        by_model[models[answer_id]].append(rating.scores)
        by_item[item].append(rating.scores)
    columns = []
    for scale in scales:
        means = {model: values for model, given in by_model.items() if (values := _values(given, scale))}
        units = [_values(given, scale) for given in by_item.values()]
        columns.append(
            Column(scale, {m: fmean(values) for m, values in means.items()}, krippendorff_alpha(units))
        )
    return Results(title, {model: len(given) for model, given in by_model.items()}, tuple(columns))


def _values(given: list[dict[str, int]], scale: RatingScale) -> list[int]:
    return [scores[scale.name] for scores in given if scale.name in scores]
