"""Studies: making, judging, reading and deleting them."""

from __future__ import annotations

from typing import Annotated

from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from citewell.core.errors import CitewellError
from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.paging import Before, Limit, page_of
from citewell.server.api.schemas import Created
from citewell.server.api.study_schemas import (
    JudgmentRequest,
    NextItem,
    StudyList,
    StudyRequest,
    StudyResults,
    StudySummary,
)
from citewell.server.api.visibility import whose
from citewell.server.services import Services
from citewell.server.store.database import ServiceStore
from citewell.server.store.studies import StoredStudy
from citewell.server.studies.drawing import answer_order, needs_every_part, screening_items
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.given import draft_of
from citewell.server.studies.judging import Judging, in_stored_order, store_verdict
from citewell.server.studies.making import StudyPlan, drafted, planned
from citewell.server.studies.past import answers_of_history
from citewell.server.studies.raters import named_rater
from citewell.server.studies.report.plain import plain
from citewell.server.studies.report.study_report import read_report
from citewell.server.studies.showing import blind
from citewell.server.studies.turns import turn_of_rater

Baseline = Annotated[
    str | None,
    QueryParameter(max_length=100, description="System to test the others against; by default `human`."),
]


class NoStudyError(CitewellError):
    """The study, or an item of it, does not exist."""

    status = 404

    def __init__(self, what: str) -> None:
        """Name what was requested."""
        super().__init__(f"The {what} does not exist.", "GET /v1/studies lists the studies.")


class FailedScreeningError(CitewellError):
    """The rater failed the study's screening test."""

    status = 409

    def __init__(self) -> None:
        """Say what the study needs."""
        super().__init__("The rater failed the short test of this study.", "The study needs other raters.")


class UnfinishedScreeningError(CitewellError):
    """The rater has not finished the study's screening test."""

    status = 409

    def __init__(self) -> None:
        """Say what comes first."""
        super().__init__(
            "The rater has not finished the short test of this study.",
            "Judge the items that `next` gives first.",
        )


async def found_study(store: ServiceStore, study_id: str) -> StoredStudy:
    """Return a study; raises `NoStudyError`."""
    study = await store.studies.get(study_id)
    if study is None:
        raise NoStudyError(f"study {study_id[:64]!r}")
    return study


@post(
    "/v1/studies",
    opt={"scope": "admin", "creates": True},
    summary="Make a study",
    responses=problems(body=True),
    tags=["studies"],
)
async def create_study(
    services: NamedDependency[Services], caller: NamedDependency[Caller], data: JSONBody[StudyRequest]
) -> Created:
    """Store a study of the given items, or of the questions in the history that have several answers.

    Its pages are at `/studies/ID`.
    """
    store, form = services.store.get(), form_named(data.form)
    drafts = [draft_of(item, form) for item in data.items]
    if data.history:
        drafts += drafted(await answers_of_history(store, whose(caller)), form)
    plan = StudyPlan(
        name=data.name,
        form=form,
        seed=data.seed or "",
        share_required=data.share_required,
        screening=data.screening,
        passing=data.passing,
    )
    study, items = planned(plan, drafts)
    await store.studies.add(study, items)
    return Created(study.id)


@get("/v1/studies", opt={"scope": "feedback"}, summary="List studies", responses=problems(), tags=["studies"])
async def list_studies(
    services: NamedDependency[Services], before: Before = None, limit: Limit = 20
) -> StudyList:
    """List the studies, newest first."""
    store = services.store.get()
    sizes = await store.studies.sizes()
    page = page_of(await store.studies.page(limit + 1, before), limit)
    return StudyList([_summary(study, sizes.get(study.id, 0)) for study in page.rows], page.next)


@get(
    "/v1/studies/{study_id:str}/next",
    opt={"scope": "feedback"},
    summary="Get the next item of a rater",
    responses=problems(404),
    tags=["studies"],
)
async def get_next_item(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    study_id: FromPath[str],
    rater: Annotated[str, QueryParameter(max_length=100, description="Without keys: who rates.")] = "",
    after: Annotated[str | None, QueryParameter(max_length=64, description="Item to skip for now.")] = None,
) -> NextItem:
    """The next item, without the names of systems, and its answers in the order of this rater."""
    name = named_rater(caller, rater)
    store = services.store.get()
    study = await found_study(store, study_id)
    turn = await turn_of_rater(store, study, name, after)
    if turn.item is None:
        return NextItem(turn.done, turn.total, turn.failed)
    cited = form_named(study.form).cited
    answers = [blind(turn.item.answers[index], cited=cited) for index in turn.order]
    return NextItem(turn.done, turn.total, turn.failed, turn.every, turn.item.id, turn.item.question, answers)


@post(
    "/v1/studies/{study_id:str}/judgments",
    opt={"scope": "feedback", "creates": True},
    summary="Judge an item of a study",
    responses=problems(404, 409, body=True),
    tags=["studies"],
)
async def create_judgment(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    study_id: FromPath[str],
    data: JSONBody[JudgmentRequest],
) -> Created:
    """Store what a rater says of an item. It is on disk when this returns.

    The answers are in the order of the rater's next item, or of the rater's page. A rater who failed the
    study's short test, or has not finished it, is refused.
    """
    store = services.store.get()
    study = await found_study(store, study_id)
    items = await store.studies.items(study.id)
    item = next((each for each in items if each.id == data.item), None)
    if item is None:
        raise NoStudyError(f"item {data.item!r} of the study")
    rater = named_rater(caller, data.rater)
    turn = await turn_of_rater(store, study, rater)
    if turn.failed:
        raise FailedScreeningError
    if turn.test and item.id not in turn.test:
        raise UnfinishedScreeningError
    judging = Judging(
        form=form_named(study.form),
        item=item,
        rater=rater,
        key_id=caller.key_id,
        every=needs_every_part(study, item),
        tested=item in screening_items(study, items),
    )
    await store_verdict(store, judging, in_stored_order(data, answer_order(study, item, rater)))
    return Created(item.id)


@get(
    "/v1/studies/{study_id:str}/results",
    opt={"scope": "export"},
    summary="Get the results of a study",
    responses=problems(404),
    tags=["studies"],
)
async def get_study_results(
    services: NamedDependency[Services], study_id: FromPath[str], baseline: Baseline = None
) -> StudyResults:
    """Means with standard errors and paired tests, win rates, and the agreement of raters."""
    store = services.store.get()
    study = await found_study(store, study_id)
    report = await read_report(store, study, baseline)
    return StudyResults(_summary(study, report.items + report.gold_items), plain(report))


@delete(
    "/v1/studies/{study_id:str}",
    opt={"scope": "admin"},
    status_code=204,
    summary="Delete a study",
    responses=problems(404),
    tags=["studies"],
)
async def delete_study(services: NamedDependency[Services], study_id: FromPath[str]) -> None:
    """Delete a study with all its judgments."""
    if not await services.store.get().studies.delete(study_id):
        raise NoStudyError(f"study {study_id[:64]!r}")


def _summary(study: StoredStudy, items: int) -> StudySummary:
    return StudySummary(study.id, study.name, study.form, items, study.created)


STUDIES = (create_study, list_studies, get_next_item, create_judgment, get_study_results, delete_study)
