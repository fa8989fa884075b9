"""A report as tables: the same for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.core.tables import markdown_table
from citewell.server.studies.report.estimate import MeanEstimate
from citewell.server.studies.report.scores import MeasureResult
from citewell.server.studies.report.study_report import HUMAN, StudyReport
from citewell.server.studies.report.wins import WinMatrix

_NONE = "–"
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class ReportTable:
    """A table with its title and what its numbers mean; the first column names the rows.

    Its cells are `shares` from 0 to 1, which a page may shade, or other values.
    """

    title: str
    about: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shares: bool = False


def report_tables(report: StudyReport) -> list[ReportTable]:
    """Return the tables of a report that have something to say."""
    tables = [*_score_tables(report), *_win_tables(report), *_rater_tables(report)]
    return [table for table in tables if table.rows]


def markdown_report(report: StudyReport) -> str:
    """Return a report as Markdown."""
    parts = [f"# {report.study.name}", summary(report), *report.notices]
    for table in report_tables(report):
        parts += [f"## {table.title}", table.about, markdown_table(table.header, table.rows)]
    return "\n\n".join(parts) + "\n"


def summary(report: StudyReport) -> str:
    """Return the size of a study in words."""
    sizes = [_counted(report.items, "item"), _counted(report.gold_items, "gold item")]
    judged = f"{_counted(report.judgments, 'judgment')} by {_counted(len(report.raters), 'rater')}"
    flagged = f"; {report.flagged:,} flagged" if report.flagged else ""
    return f"Form {report.form.name} ({report.form.source}): {' and '.join(sizes)}, {judged}{flagged}."


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _score_tables(report: StudyReport) -> Iterator[ReportTable]:
    for part, title in (("reference", "References"), ("answer", "Answers")):
        results = [result for result in report.scores if result.measure.part == part]
        yield ReportTable(
            title,
            "Mean ± standard error over questions. On scales with ↓, lower is better. "
            f"* differs from {report.baseline} (paired randomization test, Holm, p < .05).",
            ("System", *(_title(result) for result in results)),
            tuple((system, *(_mean(result, system) for result in results)) for system in report.systems)
            if results
            else (),
        )


def _title(result: MeasureResult) -> str:
    return result.measure.title + (" ↓" if result.measure.low else "")


def _mean(result: MeasureResult, system: str) -> str:
    test = result.tests.get(system)
    star = "*" if test is not None and test.p_holm < _SIGNIFICANT else ""
    return _spoken(result.means.get(system)) + star


def _win_tables(report: StudyReport) -> Iterator[ReportTable]:
    about = "How often the row is preferred to the column, ± standard error; ties count one half."
    yield _matrix_table("Win rates", about, report.wins)
    human = [
        (row, _spoken(rate), f"{rate.questions:,}")
        for (row, column), rate in report.wins.rates.items()
        if column == HUMAN
    ]
    yield ReportTable(
        "Win rates against people",
        "How often a system is preferred to the answer that a person wrote.",
        ("System", "Win rate", "Questions"),
        tuple(human),
    )
    for each in report.by_scale:
        if each.name != "overall":
            yield _matrix_table(f"Preferred: {each.title}", about, each.matrix)
    for title, matrix in report.groups:
        yield _matrix_table(title, about, matrix)


def _matrix_table(title: str, about: str, matrix: WinMatrix) -> ReportTable:
    rows = [
        (
            row,
            *("" if row == column else _spoken(matrix.rates.get((row, column))) for column in matrix.systems),
        )
        for row in matrix.systems
    ]
    return ReportTable(title, about, ("Row beats", *matrix.systems), tuple(rows), shares=True)


def _rater_tables(report: StudyReport) -> Iterator[ReportTable]:
    yield ReportTable(
        "Agreement",
        "Krippendorff's alpha for ordinal scores: 1 is perfect, 0 chance. Preferences: how often two raters "
        "prefer the same answer, where a tie and a preference agree by one half, as in WebGPT.",
        ("Measure", "Judged twice", "Alpha", "Preferences"),
        tuple(
            (each.title, f"{each.units:,}", _number(each.alpha), _number(each.agreed))
            for each in report.agreements
        ),
    )
    yield ReportTable(
        "Raters",
        "Raters are shown as hashes. Gold: agreement with the judgments that are known to be right.",
        ("Rater", "Judged", "Median time", "Gold", "Screening", "Held out"),
        tuple(
            (
                rater.rater + (" (script)" if rater.script else ""),
                f"{rater.items:,}",
                _NONE if rater.seconds is None else f"{rater.seconds / 60:.1f} min",
                f"{rater.gold.agreed} of {rater.gold.total}" if rater.gold.total else _NONE,
                {None: _NONE, True: "passed", False: "failed"}[rater.passed],
                "yes" if rater.held_out else "no",
            )
            for rater in report.raters
        ),
    )


def _spoken(estimate: MeanEstimate | None) -> str:
    if estimate is None:
        return _NONE
    error = "" if estimate.error is None else f" ± {estimate.error:.3f}"
    return f"{estimate.mean:.3f}{error}"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"
