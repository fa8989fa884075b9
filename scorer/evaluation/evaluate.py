"""Evaluation of systems on a task, one question at a time."""

from __future__ import annotations

import math
import time

from citewell.core.errors import ModelError
from citewell.core.progress import Counter, Log
from citewell.scorer.evaluation.measures import ScorerResult, measure
from citewell.scorer.evaluation.system import ScoringSystem
from citewell.scorer.evaluation.task import ScoringTask


def evaluate(task: ScoringTask, system: ScoringSystem, tell: Log) -> ScorerResult:
    """Score all answers of the task and measure; raises `ModelError` for a score that is not finite."""
    scores: dict[str, list[float]] = {}
    told = Counter(f"{system.name}: questions", tell)
    started = time.perf_counter()
    for done, item in enumerate(task.items, 1):
        found = [float(score) for score in system.rate(item.question, item.answers, item.references)]
        if len(found) != len(item.answers) or not all(map(math.isfinite, found)):
            raise ModelError(
                f"{system.name} gave no number for an answer to {item.question[:80]!r}.",
                "Its weights are damaged: train it again.",
            )
        scores[item.key] = found
        told(done, len(task.items))
    seconds = time.perf_counter() - started
    return measure(system.name, task, scores, system.preference, seconds)
