"""What is measured of each row, and its paired tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.ablations.rows import AblationRow
from benchmarks.results_files import read_tables
from citewell.core.estimates import estimate
from citewell.core.questions import AnsweredQuestion
from citewell.core.significance import PairedComparison, compare
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.generator.evaluation.judges.judge import SupportJudge
from citewell.generator.evaluation.measures import COPIED, PRECISION, RECALL, TEXT, WORDS
from citewell.generator.evaluation.measures import measure as measure_citations
from citewell.generator.evaluation.rows import EvaluationRow
from citewell.pipeline.evaluation.accuracy import ACCURACY, ANSWERED, IN_REFERENCES
from citewell.pipeline.evaluation.accuracy import measure as measure_accuracy
from citewell.pipeline.evaluation.systems import AnswerSystem, Arm

_KEPT = (ACCURACY, IN_REFERENCES, ANSWERED)


@dataclass(frozen=True)
class MeasuredRow:
    """The values of a row by measure and question, and the number of answers that failed."""

    row: AblationRow
    values: Mapping[str, Mapping[str, float]]
    failures: int


def measured(
    row: AblationRow,
    asked: Sequence[AnsweredQuestion],
    written: Mapping[str, GeneratedAnswer],
    judges: Sequence[SupportJudge],
) -> MeasuredRow:
    """Measure the answers of a row: accuracy, and citations by each judge where references were given."""
    cites = row.references != "closed-book"
    system = AnswerSystem(label=row.name, arm=Arm.ON if cites else Arm.CLOSED_BOOK, name=row.name)
    accuracy = measure_accuracy(system, asked, written)
    values = {name: of for name, of in accuracy.values.items() if name in _KEPT}
    rows = [
        EvaluationRow(question.key, number, question.question, written[question.key].references)
        for number, question in enumerate(asked, 1)
    ]
    found = measure_citations(row.name, rows, written, judges if cites else ())
    for judge in judges if cites else ():
        values |= {f"{name}, {judge.name}": found.values[judge.name][name] for name in (RECALL, PRECISION)}
    values |= {name: found.values[TEXT][name] for name in (WORDS, COPIED) if name in found.values[TEXT]}
    return MeasuredRow(row, values, len(accuracy.failures))


def compared_measures(judges: Sequence[str]) -> list[str]:
    """Return the names of the measures whose differences are tested."""
    return [ACCURACY, *(f"{name}, {judge}" for judge in judges for name in (RECALL, PRECISION))]


def comparisons(
    rows: Sequence[MeasuredRow], measures: Sequence[str]
) -> dict[str, dict[str, PairedComparison]]:
    """Return {measure: {row: its difference from the row it is compared with}}; p is not corrected."""
    by_name = {each.row.name: each for each in rows}
    return {
        name: {
            each.row.name: compare(each.values[name], base.values[name])
            for each in rows
            if (base := by_name.get(each.row.against)) and base is not each
            if name in each.values and name in base.values
        }
        for name in measures
    }


def figures(rows: Sequence[MeasuredRow], date: str) -> dict[str, dict[str, Any]]:
    """Return by row the date and the means with their intervals, as plain values."""
    return {
        each.row.name: {
            "table": each.row.table,
            "paper": each.row.paper,
            "date": date,
            "failures": each.failures,
        }
        | {name: _rounded(estimate(values)) for name, values in each.values.items() if values}
        for each in rows
    }


def plain(found: Mapping[str, Mapping[str, PairedComparison]]) -> dict[str, dict[str, Any]]:
    """Return comparisons as plain values."""
    return {name: {row: _rounded(asdict(one)) for row, one in of.items()} for name, of in found.items()}


def votes_table(file: Path) -> dict[str, tuple[str, ...]]:
    """Return accuracy, Spearman and N-NDCG of scorers, from what `citewell eval scorer --markdown` wrote."""
    tables = read_tables(file.read_text(encoding="utf-8")) if file.is_file() else []
    rows = next((found for found in tables if found and "pair accuracy" in found[0]), [])
    return {row["scorer"]: (row["pair accuracy"], row["Spearman"], row["N-NDCG"]) for row in rows}


def reading(file: Path) -> dict[str, Any]:
    """Return the shares of good rows that a reading of the data set found; empty without that file."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}
