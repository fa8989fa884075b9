"""The results of an evaluation of scorers, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from citewell.core.significance import TEST, PairedComparison, compare_all, differences_table
from citewell.core.tables import markdown_table
from citewell.scorer.evaluation.clusters import Estimate
from citewell.scorer.evaluation.measures import BRIER, ECE, LOG_LOSS, MEASURES, QUALITY, ScorerResult
from citewell.scorer.evaluation.task import ScoringTask

_CALIBRATION = (ECE, LOG_LOSS, BRIER)


@dataclass(frozen=True)
class ScorerEvaluation:
    """Systems measured on the same questions; the others are compared with `baseline`."""

    task: ScoringTask
    baseline: str
    outcomes: tuple[ScorerResult, ...]
    notices: tuple[str, ...] = ()


def comparisons(evaluation: ScorerEvaluation) -> dict[str, dict[str, PairedComparison]]:
    """Compare each system with the baseline, by measure; p is corrected for the number of systems."""
    values = {outcome.name: outcome.values for outcome in evaluation.outcomes}
    base = values.pop(evaluation.baseline)
    if not values:
        return {}
    return {
        measure: compare_all({name: each[measure] for name, each in values.items()}, base[measure])
        for measure in QUALITY
        if measure in base
    }


def summary(evaluation: ScorerEvaluation) -> str:
    """Return {system: {measure: {value, low, high, questions, number}}} as JSON, no other keys."""
    found = {
        outcome.name: {measure: estimate._asdict() for measure, estimate in outcome.estimates.items()}
        | (dict(outcome.calibration.measures) if outcome.calibration else {})
        for outcome in evaluation.outcomes
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def details(evaluation: ScorerEvaluation, found: Mapping[str, Mapping[str, PairedComparison]]) -> str:
    """Return the values of each question, the points of the plots, and the comparisons, as JSON."""
    everything: dict[str, Any] = {
        "file": evaluation.task.name,
        "questions": len(evaluation.task.items),
        "pairs": evaluation.task.pairs,
        "baseline": evaluation.baseline,
        "notices": [*evaluation.task.notes, *evaluation.notices],
        "values": {outcome.name: outcome.values for outcome in evaluation.outcomes},
        "ranks": {o.name: [point._asdict() for point in o.ranks] for o in evaluation.outcomes if o.ranks},
        "calibration": {
            o.name: [point._asdict() for point in o.calibration.bins]
            for o in evaluation.outcomes
            if o.calibration
        },
        "comparisons": {
            measure: {name: asdict(comparison) for name, comparison in systems.items()}
            for measure, systems in found.items()
        },
    }
    return json.dumps(everything, indent=1, ensure_ascii=False) + "\n"


def markdown(evaluation: ScorerEvaluation, found: Mapping[str, Mapping[str, PairedComparison]]) -> str:
    """Return a page with all tables."""
    task = evaluation.task
    parts = [
        f"# {task.name}: {len(task.items):,} questions, {task.pairs:,} pairs of answers",
        scores_table(evaluation.outcomes),
    ]
    if calibrated := [outcome for outcome in evaluation.outcomes if outcome.calibration]:
        parts += ["## Predicted and observed preferences", calibration_table(calibrated)]
    if found:
        parts += [f"## Differences to {evaluation.baseline}", differences_table(found), TEST]
    notices = [*evaluation.notices, *task.notes]
    if notices:
        parts += ["## The data", "\n".join(f"    {notice}" for notice in notices)]
    return "\n\n".join(parts) + "\n"


def scores_table(outcomes: Sequence[ScorerResult]) -> str:
    """Return the measures of each system with their intervals, one row per system."""
    shown = [name for name in MEASURES if any(name in outcome.estimates for outcome in outcomes)]
    rows = [
        [
            outcome.name,
            *(_value(outcome.estimates.get(name)) for name in shown),
            f"{outcome.seconds:.1f}",
        ]
        for outcome in outcomes
    ]
    return markdown_table(["scorer", *shown, "seconds"], rows)


def calibration_table(outcomes: Sequence[ScorerResult]) -> str:
    """Return the calibration measures, one row per system that predicts preferences."""
    rows = [
        [outcome.name, *(f"{outcome.calibration.measures[name]:.4f}" for name in _CALIBRATION)]
        for outcome in outcomes
        if outcome.calibration
    ]
    return markdown_table(["scorer", *_CALIBRATION], rows)


def _value(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
