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
from citewell.server.store.database import ServiceStore
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.drawing import answer_order, item_order, needs_every_part
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.scales import PREFERENCES
from citewell.server.studies.forms.webgpt import PARTS
from citewell.server.studies.gold import has_passed
from citewell.server.studies.judgments import judgments_of
from citewell.server.studies.raters import rater_of
from citewell.server.studies.report.study_report import read_report
from citewell.server.studies.report.tables import report_tables, summary

_MOST = 100  # studies on the page


@get("/studies", opt={"scope": "feedback"})
async def studies_page(services: NamedDependency[Services], caller: NamedDependency[Caller]) -> Template:
    """All studies, newest first."""
    store = services.store.get()
    sizes = await store.studies.sizes()
    studies = await store.studies.page(_MOST)
    return html(
        "studies.html",
        here="judge",
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
    items = await store.studies.items(study.id)
    context: dict[str, Any] = {"starts": True, "needs_name": caller.key_id is None}
    if rater.strip():
        context = await _item_page(store, study, items, rater, rater_of(caller, rater), after)
    return html(
        "study.html",
        here="judge",
        title=study.name,
        study=study,
        form=form_named(study.form),
        total=len(items),
        may_see_results="export" in caller.scopes,
        **context,
    )


async def _item_page(
    store: ServiceStore,
    study: StoredStudy,
    items: list[StoredStudyItem],
    name: str,
    rater: str,
    after: str | None,
) -> dict[str, Any]:
    done = await store.studies.judged_by(rater)
    waiting = [item for item in item_order(study, items, rater) if item.id not in done]
    place = next((number for number, item in enumerate(waiting, 1) if item.id == after), 0)
    item = next(iter(waiting[place:] + waiting), None)
    again = f"/studies/{study.id}?{urlencode({'rater': name})}"
    common = {
        "starts": False,
        "done": sum(each.id in done for each in items),
        "failed": await _has_failed(store, study, items, rater),
        "item": item,
        "again": again,
    }
    if item is None:
        return common
    form = form_named(study.form)
    order = answer_order(study, item, rater)
    views = [study_view(item.question, item.answers[index], cited=form.cited) for index in order]
    return common | {
        "views": views,
        "body": {"item": item.id, "rater": name, "answers": _empty(form, item, order)},
        "every": needs_every_part(study, item),
        "parts": PARTS if form.claims else None,
        "choices": PREFERENCES,
        "skip": f"{again}&{urlencode({'after': item.id})}" if len(waiting) > 1 else None,
    }


def _empty(form: StudyForm, item: StoredStudyItem, order: list[int]) -> list[dict[str, Any]]:
    """Return the answers of a judgment before anything was chosen."""
    if not form.reference:
        return [{} for _ in order]
    return [{"references": [{} for _ in item.answers[index]["references"]]} for index in order]


async def _has_failed(
    store: ServiceStore, study: StoredStudy, items: list[StoredStudyItem], rater: str
) -> bool:
    if not study.screening:
        return False
    gold = [item for item in items if item.gold is not None]
    own = [each for each in await judgments_of(store, gold) if each.rater == rater]
    return has_passed(study, items, own) is False


@get("/studies/{study_id:str}/results", opt={"scope": "export"})
async def study_results_page(
    services: NamedDependency[Services], study_id: FromPath[str], baseline: Baseline = None
) -> Template:
    """The tables of the report of a study."""
    store = services.store.get()
    report = await read_report(store, await found_study(store, study_id), baseline)
    return html(
        "study_results.html",
        here="judge",
        title=f"Results of {report.study.name}",
        study=report.study,
        summary=summary(report),
        notices=report.notices,
        tables=report_tables(report),
    )
