"""A report as plain values, for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from citewell.server.studies.report.estimate import MeanEstimate
from citewell.server.studies.report.scores import MeasureResult
from citewell.server.studies.report.study_report import HUMAN, StudyReport
from citewell.server.studies.report.wins import WinMatrix


def plain(report: StudyReport) -> dict[str, Any]:
    """Return a report as objects, lists, texts and numbers."""
    return {
        "form": report.form.name,
        "source": report.form.source,
        "items": report.items,
        "gold_items": report.gold_items,
        "judgments": report.judgments,
        "flagged": report.flagged,
        "systems": list(report.systems),
        "baseline": report.baseline,
        "scores": [_scores(result) for result in report.scores],
        "wins": _wins(report.wins),
        "wins_against_human": {
            row: _estimate(rate) for (row, column), rate in report.wins.rates.items() if column == HUMAN
        },
        "wins_by_scale": {each.name: _wins(each.matrix) for each in report.by_scale},
        "wins_by_raters": {title: _wins(matrix) for title, matrix in report.groups},
        "agreement": [each._asdict() for each in report.agreements],
        "raters": [
            {**asdict(rater), "gold": {"agreed": rater.gold.agreed, "total": rater.gold.total}}
            for rater in report.raters
        ],
        "notices": list(report.notices),
    }


def _scores(result: MeasureResult) -> dict[str, Any]:
    return {
        **result.measure._asdict(),
        "means": {name: _estimate(mean) for name, mean in result.means.items()},
        "tests": {name: asdict(test) for name, test in result.tests.items()},
    }


def _wins(matrix: WinMatrix) -> Mapping[str, Mapping[str, Any]]:
    return {
        row: {
            column: _estimate(matrix.rates[row, column])
            for column in matrix.systems
            if (row, column) in matrix.rates
        }
        for row in matrix.systems
    }


def _estimate(estimate: MeanEstimate) -> dict[str, Any]:
    return estimate._asdict()
