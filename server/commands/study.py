"""`citewell study`: let people judge the answers of systems blindly."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.core import running
from citewell.core.errors import InputError
from citewell.server.commands.database import database_option, database_url, missing_file
from citewell.server.studies.forms.catalog import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.server.store.studies import StoredStudy
    from citewell.server.studies.answers import SystemAnswer
    from citewell.server.studies.forms.form import StudyForm
    from citewell.server.studies.making import DraftItem, StudyPlan
    from citewell.server.studies.report.study_report import StudyReport

_MOST = 1_000  # studies that are listed
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group("study")
def command() -> None:
    """Let people judge the answers of systems blindly.

    docs/studies.md explains forms and reports.
    """


@command.command("make")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=_FILE)
@click.option("--form", "form_name", required=True, type=click.Choice(list(FORMS)), help="Form of the pages.")
@click.option("--name", metavar="NAME", help="Name of the study, which raters see [its form and the date].")
@click.option("--gold", metavar="FILE", type=_FILE, help="Items whose right judgments are known.")
@click.option("--history", is_flag=True, help="Take the questions with several answers in the history.")
@click.option("--against", metavar="SYSTEM", help="Compare only with this system.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Draw N questions.")
@click.option("--seed", metavar="TEXT", default="", help="Decides every draw and order [random].")
@click.option(
    "--share", metavar="SHARE", type=click.FloatRange(0, 1), help="Share of the items that need every part."
)
@click.option(
    "--screening", metavar="N", type=click.IntRange(0), default=0, help="Gold items that come first [0]."
)
@click.option(
    "--passing",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    default=0.5,
    help="Share of judgments that must agree with the screening items [0.5].",
)
@database_option
def make(
    files: tuple[Path, ...],
    form_name: str,
    name: str | None,
    gold: Path | None,
    history: bool,
    against: str | None,
    limit: int | None,
    seed: str,
    share: float | None,
    screening: int,
    passing: float,
    database: str | None,
) -> None:
    """Make a study of the answers in FILEs, such as scores.answers.jsonl of `citewell eval`."""
    if not files and not history:
        raise InputError("There are no answers.", "Name a file, or add --history.")
    url = database_url(database)
    from citewell.server.studies.answer_files import read_answer_file
    from citewell.server.studies.making import StudyPlan, drafted, without_items

    form, seed = FORMS[form_name], seed or secrets.token_hex(8)
    answers = [answer for file in files for answer in read_answer_file(file)]
    if history:
        if missing := missing_file(url, database):
            raise InputError(f"The history cannot be read: the database {missing} does not exist.")
        answers += running.run(_past(url))
    judged = drafted(answers, form, against=against, limit=limit, seed=seed)
    if not judged:
        raise without_items(form)
    drafts = _gold(gold, form) + judged
    plan = StudyPlan(
        name=name or f"{form_name} {datetime.now(UTC).date().isoformat()}",  # names no system
        form=form,
        seed=seed,
        share_required=share,
        screening=screening,
        passing=passing,
    )
    made = running.run(_store(url, plan, drafts))
    systems = sorted({answer.system for draft in judged for answer in draft.answers})
    items = f"{len(drafts):,} item{'' if len(drafts) == 1 else 's'}"
    click.echo(made.id)
    click.echo(f"{items} of {', '.join(systems)}: open /studies/{made.id}", err=True)


def _gold(file: Path | None, form: StudyForm) -> list[DraftItem]:
    if file is None:
        return []
    from citewell.core.jsonl import read_lines
    from citewell.server.api.study_schemas import StudyItem
    from citewell.server.studies.given import draft_of

    hint = 'Lines are {"question": "…", "answers": [{"system": "…", "text": "…"}], "gold": {…}}.'
    drafts = []
    for line in read_lines(file):
        item = line.value(StudyItem, "gold item", hint)
        if item.gold is None:
            raise line.error("the item has no `gold`.", hint)
        try:
            drafts.append(draft_of(item, form))
        except InputError as error:
            raise line.error(error.message, error.hint) from error
    return drafts


async def _past(url: str) -> list[SystemAnswer]:
    from citewell.server.store.database import open_store
    from citewell.server.studies.past import answers_of_history

    async with open_store(url) as store:
        return await answers_of_history(store, None)


async def _store(url: str, plan: StudyPlan, drafts: Sequence[DraftItem]) -> StoredStudy:
    from citewell.server.store.database import open_store
    from citewell.server.studies.making import planned

    study, items = planned(plan, drafts)
    async with open_store(url) as store:
        await store.studies.add(study, items)
    return study


@command.command("list")
@database_option
def list_(database: str | None) -> None:
    """List all studies, newest first."""
    url = database_url(database)
    missing = missing_file(url, database)
    studies, sizes = ([], {}) if missing else running.run(_all(url))
    if not studies:
        why = f", since the database {missing} does not exist" if missing else ""
        click.echo(f"No studies yet{why}. Make one: citewell study make FILE --form FORM")
    for study in studies:
        about = f"{sizes[study.id]:,} items; {study.form}; {study.created:%Y-%m-%d}"
        click.echo(f"{study.id}  {study.name}: {about}")


async def _all(url: str) -> tuple[list[StoredStudy], dict[str, int]]:
    from citewell.server.store.database import open_store

    async with open_store(url) as store:
        return await store.studies.page(_MOST), await store.studies.sizes()


@command.command("report")
@click.argument("id_", metavar="ID")
@click.option("--baseline", metavar="SYSTEM", help="System to test the others against [human, or the first].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_option
def report(id_: str, baseline: str | None, as_json: bool, database: str | None) -> None:
    """Print the results of the study ID: means, win rates and the agreement of raters."""
    url = database_url(database)
    from citewell.server.studies.report.plain import plain
    from citewell.server.studies.report.tables import markdown_report

    if missing := missing_file(url, database):
        raise InputError(f"The study {id_} does not exist, nor does the database {missing}.")
    found = running.run(_report(url, id_, baseline))
    if as_json:
        click.echo(json.dumps(plain(found), ensure_ascii=False))
    else:
        click.echo(markdown_report(found), nl=False)


async def _report(url: str, id_: str, baseline: str | None) -> StudyReport:
    from citewell.server.store.database import open_store
    from citewell.server.studies.report.study_report import read_report

    async with open_store(url) as store:
        study = await store.studies.get(id_)
        if study is None:
            raise InputError(f"The study {id_} does not exist.", "`citewell study list` shows the ids.")
        return await read_report(store, study, baseline)
