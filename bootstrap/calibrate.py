"""A sweep of thresholds against labels, for the one that separates good samples from bad (WebGLM §3.2.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.correction import correct
from citewell.bootstrap.filters import reason_to_drop
from citewell.bootstrap.types import Drop, Outcome, Sample
from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.rouge import Rouge

Share = Literal["precision", "f1"]

_THRESHOLDS = tuple(round(0.02 * step, 2) for step in range(1, 50))
_MEASURES = (Rouge.ROUGE_1, Rouge.ROUGE_L)
_SHARES: tuple[Share, ...] = ("precision", "f1")
# Reasons of drops that do not depend on a threshold of overlap.
_OTHER = {"few_references", "empty", "truncated", "markup", "short"}


class ThresholdPoint(NamedTuple):
    """The quality of the filters at a threshold of a measure: `share` is its precision, or its F1.

    `precision` of the accepted samples are good, `recall` of the good samples are accepted, and `f1` is the
    harmonic mean of both, all from 0 to 1.
    """

    measure: str
    share: str
    threshold: float
    precision: float
    recall: float
    f1: float


class ThresholdSweep(NamedTuple):
    """A sweep over `labeled` samples, `good` of which are good: a curve for each measure and share.

    `now` is the point of the run's own filters.
    """

    labeled: int
    good: int
    now: ThresholdPoint
    curves: tuple[tuple[ThresholdPoint, ...], ...]

    @property
    def best(self) -> ThresholdPoint:
        """The best point of all curves; among equals, that of the first curve."""
        return max((best_of(curve) for curve in self.curves), key=lambda point: point.f1)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return {
            "labeled": self.labeled,
            "good": self.good,
            "now": self.now._asdict(),
            "best": self.best._asdict(),
            "curves": [[point._asdict() for point in curve] for curve in self.curves],
        }

    def table(self) -> str:
        """Return the best threshold of each measure, and the one in force, as lines of text."""
        best = self.best
        everything = 2 * self.good / (self.labeled + self.good)
        return "\n".join(
            [
                f"{self.labeled:,} labeled samples, {self.good:,} of them good",
                f"Accepting all would have an F1 of {everything:.3f}.",
                "",
                f"{'overlap':<28}{'threshold':>10}{'precision':>10}{'recall':>10}{'F1':>10}",
                _line("now: ", self.now),
                *(_line("best: ", best_of(curve)) for curve in self.curves),
                "",
                "Best, for a recipe:",
                "[correction]",
                f'measure = "{best.measure}"',
                f'share = "{best.share}"',
                f"threshold = {best.threshold:g}",
            ]
        )


def best_of(curve: Sequence[ThresholdPoint]) -> ThresholdPoint:
    """Return the point with the best F1.

    Among equal points, the middle one wins: it depends least on single labels.
    """
    most = max(point.f1 for point in curve)
    equals = [point for point in curve if point.f1 == most]
    return equals[len(equals) // 2]


def draw(outcomes: Iterable[Outcome], number: int) -> list[dict[str, Any]]:
    """Return a reproducible random sample of `number` outcomes to label, with `good` to be filled in.

    Samples and drops alike, except those that no threshold decides, such as empty answers.
    """
    rows = (outcome for outcome in outcomes if _is_decided(outcome))
    chosen = sorted(rows, key=lambda row: hashlib.sha256(row.key.encode()).digest())[:number]
    return [
        {
            "id": each.key,
            "good": None,
            "question": each.question,
            "answer": each.raw_answer,
            "references": {f"[{reference.number}]": reference.text for reference in each.references},
        }
        for each in chosen
    ]


def read_labels(file: Path) -> dict[str, bool]:
    """Return the labels of a file of JSON lines `{"id": …, "good": true}`; other keys are ignored.

    Raises `InputError` for a line without a label, an id labeled twice, and where all or none are good.
    """
    labels: dict[str, bool] = {}
    for line in read_lines(file):
        row = line.row()
        key, good = row.get("id"), row.get("good")
        if not isinstance(key, str) or not isinstance(good, bool):
            raise line.error("the label is missing.", 'Write "id", and "good" as true or false.')
        if key in labels:
            raise line.error(f"{key} is labeled twice.", "Label each sample once.")
        labels[key] = good
    if len(set(labels.values())) < 2:
        raise InputError(f"{file} does not have both good and bad samples.", "Label some of each.")
    return labels


def calibrate(
    outcomes: Iterable[Outcome],
    labels: Mapping[str, bool],
    config: BootstrapConfig,
    on_step: Callable[[str], None] = lambda step: None,
) -> ThresholdSweep:
    """Correct and filter the labeled answers with each measure and threshold.

    As in the paper, one threshold decides what a segment cites and whether an answer is based on its
    references; the other filters are those of the run. Raises `InputError` for an unknown label id.
    """
    answers = {row.key: row for row in outcomes if row.key in labels and isinstance(row, Sample | Drop)}
    if missing := next((key for key in labels if key not in answers), None):
        raise InputError(
            f"No answer of the run has the id {missing}, which is labeled.", "Give the labels of this run."
        )
    labeled = [(answers[key], good) for key, good in labels.items()]
    curves = []
    for measure in _MEASURES:
        for share in _SHARES:
            on_step(f"{measure} {share}")
            sweep = (_with(config, measure, share, threshold) for threshold in _THRESHOLDS)
            curves.append(tuple(_point(labeled, each) for each in sweep))
    return ThresholdSweep(len(labeled), sum(labels.values()), _point(labeled, config), tuple(curves))


def _with(config: BootstrapConfig, measure: Rouge, share: Share, threshold: float) -> BootstrapConfig:
    changed = {"measure": measure, "share": share, "threshold": threshold}
    correction = config.correction.model_copy(update=changed)
    filters = config.filters.model_copy(update={"overlap": None})
    return config.model_copy(update={"correction": correction, "filters": filters})


def _point(labeled: Sequence[tuple[Sample | Drop, bool]], config: BootstrapConfig) -> ThresholdPoint:
    accepted = [good for row, good in labeled if _accepts(row, config)]
    right, all_good = sum(accepted), sum(good for _, good in labeled)
    precision = right / len(accepted) if accepted else 0.0
    f1 = 2 * right / (len(accepted) + all_good)
    correction = config.correction
    return ThresholdPoint(
        correction.measure, correction.share, correction.least, precision, right / all_good, f1
    )


def _accepts(row: Sample | Drop, config: BootstrapConfig) -> bool:
    if isinstance(row, Drop) and row.reason in _OTHER:
        return False
    scores = correct(row.raw_answer, row.references, config.correction).scores
    return reason_to_drop(row.raw_answer, scores, config) is None


def _is_decided(outcome: Outcome) -> TypeGuard[Sample | Drop]:
    return isinstance(outcome, Sample) or (isinstance(outcome, Drop) and outcome.reason not in _OTHER)


def _line(name: str, point: ThresholdPoint) -> str:
    what = f"{name}{point.measure} {point.share}"
    numbers = (point.threshold, point.precision, point.recall, point.f1)
    return f"{what:<28}" + "".join(f"{number:>10.3f}" for number in numbers)
