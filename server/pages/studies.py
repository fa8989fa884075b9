"""The pages of studies: the list, the pages to judge, and the results."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api.studies import Baseline, found_study
from citewell.server.pages.replies import html
from citewell.server.pages.study_view import study_view
from citewell.server.services import Services
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.forms.scales import PREFERENCES
from citewell.server.studies.forms.webgpt import PARTS
from citewell.server.studies.raters import rater_of
from citewell.server.studies.report.study_report import read_report
from citewell.server.studies.report.tables import report_tables, summary
from citewell.server.studies.turns import RaterTurn, turn_of_rater

_MOST = 100  # studies on the page


@get("/studies", opt={"scope": "feedback"})
async def studies_page(services: NamedDependency[Services], caller: NamedDependency[Caller]) -> Template:
    """All studies, newest first."""
    store = services.store.get()
    sizes = await store.studies.sizes()
    studies = await store.studies.page(_MOST)
    return html(
        "studies.html",
        here="training",
        title="Studies",
        studies=[(study, form_named(study.form).title, sizes.get(study.id, 0)) for study in studies],
        may_see_results="export" in caller.scopes,
    )


@get("/studies/{study_id:str}", opt={"scope": "feedback"})
async def study_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    study_id: FromPath[str],
    rater: Annotated[str, QueryParameter(max_length=100)] = "",
    after: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The instructions or, for a rater, the next item; `after` is the item that was skipped."""
    store = services.store.get()
    study = await found_study(store, study_id)
    turn = await turn_of_rater(store, study, rater_of(caller, rater), after)
    starts = not rater.strip()
    return html(
        "study.html",
        here="training",
        title=study.name,
        study=study,
        form=form_named(study.form),
        turn=turn,
        starts=starts,
        needs_name=caller.key_id is None,
        may_see_results="export" in caller.scopes,
        **({} if starts or turn.item is None else _page(study, turn.item, turn, rater)),
    )


def _page(study: StoredStudy, item: StoredStudyItem, turn: RaterTurn, name: str) -> dict[str, Any]:
    """Return what the page of an item needs, with its answers in the order of the rater."""
    form = form_named(study.form)
    answers = [item.answers[index] for index in turn.order]
    again = f"/studies/{study.id}?{urlencode({'rater': name})}"
    scored: list[dict[str, Any]] = [
        {"references": [{} for _ in each["references"]]} if form.reference else {} for each in answers
    ]
    return {
        "again": again,
        "views": [study_view(item.question, answer, cited=form.cited) for answer in answers],
        "body": {"item": item.id, "rater": name, "answers": scored},
        "parts": PARTS if form.claims else None,
        "choices": PREFERENCES,
        "skip": f"{again}&{urlencode({'after': item.id})}" if turn.skips else None,
    }


@get("/studies/{study_id:str}/results", opt={"scope": "export"})
async def study_results_page(
    services: NamedDependency[Services], study_id: FromPath[str], baseline: Baseline = None
) -> Template:
    """The tables of the report of a study."""
    store = services.store.get()
    report = await read_report(store, await found_study(store, study_id), baseline)
    return html(
        "study_results.html",
        here="training",
        title=f"Results of {report.study.name}",
        study=report.study,
        summary=summary(report),
        notices=report.notices,
        tables=report_tables(report),
    )
