"""The report of an evaluation of generators, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

from citewell.core.estimates import UNKNOWN, estimate, percent
from citewell.core.significance import TEST, PairedComparison, compare, corrected, differences_table
from citewell.core.tables import markdown_table
from citewell.generator.evaluation.agreement import JudgeAgreement, agreement_table
from citewell.generator.evaluation.measures import (
    CITATIONS,
    CLAIMS,
    COPIED,
    FLUENCY,
    PRECISION,
    RECALL,
    REFUSED,
    REFUSED_WRONGLY,
    REPETITION,
    ROUGE_L_SUM,
    TEXT,
    WORDS,
    GeneratorResult,
)
from citewell.generator.evaluation.rows import EvaluationRow

_JUDGED = (RECALL, PRECISION, CLAIMS)
_COUNTED = (WORDS, CITATIONS, COPIED, REPETITION, FLUENCY, ROUGE_L_SUM, REFUSED_WRONGLY, REFUSED)


@dataclass(frozen=True)
class GenerationEvaluation:
    """Generators measured on the same rows. `baseline` is the one that the others are compared with."""

    file: str
    rows: tuple[EvaluationRow, ...]
    baseline: str
    outcomes: tuple[GeneratorResult, ...]
    notices: tuple[str, ...] = ()
    agreements: tuple[JudgeAgreement, ...] = ()

    @property
    def judges(self) -> list[str]:
        """The names of the judges, in their order."""
        return [name for name in self.outcomes[0].values if name != TEXT]


def comparisons(evaluation: GenerationEvaluation, judge: str) -> dict[str, dict[str, PairedComparison]]:
    """Compare each generator with the baseline: {measure: {generator: comparison}}.

    p is corrected by Holm for the number of generators. A measure that some rows lack, such as the loss of an
    empty answer, is compared over the rows that both generators have.
    """
    base = next(o for o in evaluation.outcomes if o.name == evaluation.baseline).values[judge]
    found: dict[str, dict[str, PairedComparison]] = {}
    for measure, values in base.items():
        for outcome in evaluation.outcomes:
            mine = outcome.values[judge].get(measure, {})
            common = {key: value for key, value in values.items() if key in mine}
            if outcome.name != evaluation.baseline and common:
                found.setdefault(measure, {})[outcome.name] = compare(mine, common)
    return {measure: corrected(systems) for measure, systems in found.items()}


def summary(evaluation: GenerationEvaluation) -> str:
    """{generator: {judge: {measure: {value, low, high, questions}}}} as JSON.

    Measures without a judge are under `text`. `low` to `high` is the 95% confidence interval.
    """
    found = {
        outcome.name: {
            judge: {measure: estimate(of) for measure, of in values.items()}
            for judge, values in outcome.values.items()
        }
        for outcome in evaluation.outcomes
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def details(evaluation: GenerationEvaluation) -> str:
    """Return the value of each question, the comparisons and the failures, as JSON."""
    found: dict[str, Any] = {
        "file": evaluation.file,
        "questions": {row.key: {"line": row.line, "source": row.source} for row in evaluation.rows},
        "baseline": evaluation.baseline,
        "notices": evaluation.notices,
        "agreements": [asdict(each) for each in evaluation.agreements],
        "values": {outcome.name: outcome.values for outcome in evaluation.outcomes},
        "failures": {outcome.name: outcome.failures for outcome in evaluation.outcomes},
        "comparisons": {
            judge: {
                measure: {name: asdict(comparison) for name, comparison in systems.items()}
                for measure, systems in comparisons(evaluation, judge).items()
            }
            for judge in [*evaluation.judges, TEXT]
        },
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def markdown(evaluation: GenerationEvaluation) -> str:
    """Return all tables as a separate page."""
    unanswerable = sum(not row.answerable for row in evaluation.rows)
    parts = [
        f"# {evaluation.file}: {len(evaluation.rows):,} questions, {unanswerable:,} of them unanswerable",
        *evaluation.notices,
        judged_table(evaluation),
        counted_table(evaluation),
    ]
    if evaluation.agreements:
        parts += ["## Agreement of the judges", agreement_table(evaluation.agreements)]
    if len({row.source for row in evaluation.rows}) > 1:
        parts += ["## By source", sources_table(evaluation)]
    if len(evaluation.outcomes) > 1:
        for judge in evaluation.judges:
            parts += [f"## Differences to {evaluation.baseline}, judged by {judge}"]
            parts += [differences_table(comparisons(evaluation, judge))]
        parts += [TEST]
    if failures := failures_list(evaluation):
        parts += ["## Failures", failures]
    return "\n\n".join(parts) + "\n"


def judged_table(evaluation: GenerationEvaluation) -> str:
    """Citation recall and precision and claim recall, in percent with intervals; one row per judge."""
    rows = [
        [outcome.name, judge, *(percent(outcome.values[judge].get(measure)) for measure in _JUDGED)]
        for judge in evaluation.judges
        for outcome in evaluation.outcomes
    ]
    return markdown_table(["generator", "judge", *_JUDGED], rows)


def counted_table(evaluation: GenerationEvaluation) -> str:
    """Return the measures without a judge; one row per generator."""
    measures = [m for m in _COUNTED if any(m in o.values[TEXT] for o in evaluation.outcomes)]
    shown = list(dict.fromkeys([*measures, FLUENCY]))
    rows = [
        [
            outcome.name,
            *(_plain(measure, outcome.values[TEXT].get(measure)) for measure in shown),
            f"{len(outcome.failures):,}",
        ]
        for outcome in evaluation.outcomes
    ]
    return markdown_table(["generator", *shown, "failed"], rows)


def sources_table(evaluation: GenerationEvaluation) -> str:
    """Return the means of each source's rows, in percent."""
    header = ["source", "generator", "judge", "questions", *_JUDGED]
    rows = []
    for source in dict.fromkeys(row.source for row in evaluation.rows if row.answerable):
        keys = {row.key for row in evaluation.rows if row.source == source and row.answerable}
        for judge in evaluation.judges:
            for outcome in evaluation.outcomes:
                means = [_mean(outcome.values[judge].get(measure, {}), keys) for measure in _JUDGED]
                rows.append([source or "none named", outcome.name, judge, f"{len(keys):,}", *means])
    return markdown_table(header, rows)


def failures_list(evaluation: GenerationEvaluation) -> str:
    """Return each generator's failures, grouped by reason, with their lines."""
    parts = []
    for outcome in evaluation.outcomes:
        lines: dict[str, list[int]] = {}
        for line, reason in outcome.failures.items():
            lines.setdefault(reason, []).append(line)
        for reason, of_reason in lines.items():
            shown = ", ".join(f"{line:,}" for line in of_reason[:10]) + (", …" if len(of_reason) > 10 else "")
            parts.append(f"- {outcome.name}, {len(of_reason):,} rows (line {shown}): {reason}")
    return "\n".join(parts)


def _plain(measure: str, values: Mapping[str, float] | None) -> str:
    if not values:
        return UNKNOWN
    value = mean(values.values())
    return f"{value:.1f}" if measure == WORDS else f"{value:.3f}"


def _mean(values: Mapping[str, float], keys: set[str]) -> str:
    found: Sequence[float] = [value for key, value in values.items() if key in keys]
    return f"{100 * mean(found):.1f}" if found else UNKNOWN
