"""The report of an evaluation of answers, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from citewell.core.estimates import estimate, percent
from citewell.core.significance import TEST, PairedComparison, compare_all, differences_table
from citewell.core.tables import markdown_table
from citewell.pipeline.evaluation.accuracy import AnswerResult


@dataclass(frozen=True, kw_only=True)
class AnswerEvaluation:
    """Systems measured on the same questions; the others are compared with `baseline`.

    `measures` are the columns of the tables and the first of them is compared. `parts` are named subsets of
    the questions with a table of the first measure; those of `apart` have tables of all measures.
    """

    title: str
    measures: Sequence[str]
    baseline: str
    results: Sequence[AnswerResult]
    apart: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    compared: Sequence[str] = ()
    notices: Sequence[str] = ()

    @property
    def questions(self) -> frozenset[str]:
        """The keys of all questions."""
        return frozenset(self.results[0].values[self.measures[0]])

    @property
    def sets(self) -> dict[str, frozenset[str]]:
        """All questions, and the parts, that have any."""
        found = {"all questions": self.questions, **self.apart, **self.parts}
        return {name: keys for name, keys in found.items() if keys}


def comparisons(evaluation: AnswerEvaluation, keys: frozenset[str]) -> dict[str, dict[str, PairedComparison]]:
    """Compare each system with the baseline on these questions, by measure; p is corrected by Holm."""
    values = {result.name: result.values for result in evaluation.results}
    base = values.pop(evaluation.baseline)
    found = {}
    for measure in evaluation.compared or evaluation.measures[:1]:
        others = {name: _of(each[measure], keys) for name, each in values.items() if measure in each}
        if others and measure in base:
            found[measure] = compare_all(others, _of(base[measure], keys))
    return found


def summary(evaluation: AnswerEvaluation) -> str:
    """{system: {set of questions: {measure: {value, low, high, questions}}}} as JSON."""
    found = {
        result.name: {
            name: {
                measure: estimate(_of(values, keys))
                for measure, values in result.values.items()
                if keys & values.keys()
            }
            for name, keys in evaluation.sets.items()
        }
        for result in evaluation.results
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def details(evaluation: AnswerEvaluation) -> str:
    """Return the value of each question, the comparisons and the failures, for `citewell eval compare`."""
    found: dict[str, Any] = {
        "task": evaluation.title,
        "baseline": evaluation.baseline,
        "notices": evaluation.notices,
        "parts": {name: sorted(keys) for name, keys in {**evaluation.apart, **evaluation.parts}.items()},
        "systems": {
            result.name: {"values": result.values, "failures": result.failures}
            for result in evaluation.results
        },
        "comparisons": {
            name: {
                measure: {system: asdict(comparison) for system, comparison in systems.items()}
                for measure, systems in comparisons(evaluation, keys).items()
            }
            for name, keys in evaluation.sets.items()
        },
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def markdown(evaluation: AnswerEvaluation) -> str:
    """Return all tables as a separate page."""
    tables = {"all questions": evaluation.questions, **evaluation.apart}
    parts = [f"# {evaluation.title}", *evaluation.notices]
    for name, keys in tables.items():
        if keys:
            parts += [f"## {name[:1].upper()}{name[1:]}: {len(keys):,}", _table(evaluation, keys)]
    if evaluation.parts:
        parts += [f"## {evaluation.measures[0].capitalize()} by what training questions share"]
        parts += [_parts_table(evaluation)]
    if len(evaluation.results) > 1:
        parts += [f"## Differences to {evaluation.baseline}, all questions"]
        parts += [differences_table(comparisons(evaluation, evaluation.questions)), TEST]
    failed = [(result.name, result.failures) for result in evaluation.results if result.failures]
    if failed:
        parts += ["## Failures"]
        parts += [f"- {name}, {len(found):,}: {next(iter(found.values()))}" for name, found in failed]
    return "\n\n".join(parts) + "\n"


def _table(evaluation: AnswerEvaluation, keys: frozenset[str]) -> str:
    rows = [
        [
            result.name,
            *(percent(_of(result.values.get(measure, {}), keys)) for measure in evaluation.measures),
            f"{median(result.seconds):.2f}" if result.seconds else "",
        ]
        for result in evaluation.results
    ]
    return markdown_table(["system", *evaluation.measures, "seconds, median"], rows)


def _parts_table(evaluation: AnswerEvaluation) -> str:
    first = evaluation.measures[0]
    shown = {"total": evaluation.questions, **evaluation.parts}
    rows = [
        [name, f"{len(keys):,}", *(percent(_of(result.values[first], keys)) for result in evaluation.results)]
        for name, keys in shown.items()
    ]
    return markdown_table(["split", "questions", *(result.name for result in evaluation.results)], rows)


def _of(values: Mapping[str, float], keys: frozenset[str]) -> dict[str, float]:
    return {key: value for key, value in values.items() if key in keys}
