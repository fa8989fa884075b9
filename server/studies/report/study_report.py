"""The whole report of a study."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from citewell.core.errors import InputError
from citewell.server.store.database import ServiceStore
from citewell.server.store.raters import Pseudonyms
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.judgments import ItemJudgment, judgments_of
from citewell.server.studies.report.agreement import MeasureAgreement, agreements_of
from citewell.server.studies.report.raters import RaterResult, rater_results
from citewell.server.studies.report.scores import MeasureResult, results_of
from citewell.server.studies.report.wins import ScaleWins, WinMatrix, scale_wins, win_matrix
from citewell.server.studies.trainers import trainers_of

HUMAN = "human"
"""The name of the system whose answers people wrote."""


@dataclass(frozen=True, kw_only=True)
class StudyReport:
    """What raters said of the systems of a study. Gold items count for the raters only.

    `groups` has the win rates by raters whose other judgments may have trained a scorer, and by held-out
    raters, if there are both.
    """

    study: StoredStudy
    form: StudyForm
    items: int
    gold_items: int
    judgments: int
    flagged: int
    systems: tuple[str, ...]
    baseline: str
    scores: tuple[MeasureResult, ...]
    wins: WinMatrix
    by_scale: tuple[ScaleWins, ...]
    groups: tuple[tuple[str, WinMatrix], ...]
    raters: tuple[RaterResult, ...]
    agreements: tuple[MeasureAgreement, ...]
    notices: tuple[str, ...]


async def read_report(store: ServiceStore, study: StoredStudy, baseline: str | None = None) -> StudyReport:
    """Return the report of a study as of now.

    Raises `StoreError`, and `InputError` for an unknown baseline.
    """
    items = await store.studies.items(study.id)
    judgments = await judgments_of(store, items)
    trainers = await trainers_of(store)
    pseudonyms = await store.pseudonyms()
    # The paired tests take a second or more.
    return await asyncio.to_thread(report_of, study, items, judgments, trainers, pseudonyms, baseline)


def report_of(
    study: StoredStudy,
    items: Sequence[StoredStudyItem],
    judgments: Sequence[ItemJudgment],
    trainers: Collection[str],
    pseudonyms: Pseudonyms,
    baseline: str | None = None,
) -> StudyReport:
    """Return the report of these judgments; `trainers` are raters who judged answers outside of studies.

    The baseline of the tests is `human` if there is such a system, else the first by name.
    """
    form = form_named(study.form)
    judged = [item for item in items if item.gold is None]
    systems = sorted({answer["system"] for item in judged for answer in item.answers})
    if baseline is not None and baseline not in systems:
        raise InputError(f"The study has no system {baseline[:60]!r}.", f"It has {', '.join(systems)}.")
    chosen = baseline or (HUMAN if HUMAN in systems else next(iter(systems), ""))
    counted = [each for each in judgments if each.item.gold is None and each.flag is None]
    raters = rater_results(study, items, judgments, trainers, pseudonyms)
    groups = [
        (title, win_matrix(each for each in counted if (each.rater in trainers) == trained))
        for title, trained in (
            ("Raters whose other judgments may train a scorer", True),
            ("Held-out raters", False),
        )
    ]
    return StudyReport(
        study=study,
        form=form,
        items=len(judged),
        gold_items=len(items) - len(judged),
        judgments=len(judgments),
        flagged=sum(each.flag is not None and each.item.gold is None for each in judgments),
        systems=tuple(systems),
        baseline=chosen,
        scores=tuple(results_of(form, counted, chosen)),
        wins=win_matrix(counted),
        by_scale=tuple(scale_wins(form, counted)),
        groups=tuple(groups) if all(matrix.rates for _, matrix in groups) else (),
        raters=tuple(raters),
        agreements=tuple(agreements_of(form, [each for each in judgments if each.flag is None])),
        notices=tuple(_notices(raters)),
    )


def _notices(raters: Sequence[RaterResult]) -> list[str]:
    scripts = sum(rater.script for rater in raters)
    if not scripts:
        return []
    about = "These figures show that the study works, and nothing else."
    return [f"{scripts} of {len(raters)} raters are scripts, not people. {about}"]
