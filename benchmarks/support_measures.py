"""Measures of checks of support, calibrated on some kinds of claims and measured on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support_sets import SupportSet
from citewell.core.logistic import fit_logistic, sigmoid
from citewell.core.ranking_metrics import area_under_curve

Numbers = NDArray[np.float64]
Truth = NDArray[np.bool_]
Scores = Mapping[str, Numbers]
"""The scores of a set's claims by what gives them."""

_SAMPLES = 1000
_BINS = 10
_REFUSED = 1000.0  # more than any two scores differ
_TAILS = (0.025, 0.975)


class Verdicts(NamedTuple):
    """What a system says of a set: scores to order claims by, what it accepts, and probabilities."""

    scores: Numbers
    accepted: Truth
    probabilities: Numbers | None = None


class Interval(NamedTuple):
    """A value and the ends of its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class SupportMeasures(NamedTuple):
    """Measures of a system on one set, or their mean over several."""

    balanced: Interval
    area: Interval
    calibration_error: float | None

    def shown(self) -> dict[str, Any]:
        """Return the measures rounded, for JSON."""
        error = self.calibration_error
        return {
            "balanced accuracy": [round(number, 3) for number in self.balanced],
            "area under the curve": [round(number, 3) for number in self.area],
            "calibration error": error if error is None else round(error, 3),
        }


def supported(each: SupportSet) -> Truth:
    """Return which claims of a set are supported, (n,)."""
    return np.array([row.supported for row in each.rows])


def calibrated(
    parts: Sequence[str], each: SupportSet, sets: Sequence[SupportSet], scored: Mapping[str, Scores]
) -> Verdicts:
    """Return what a combination of scores says of a set; a probability of one half is needed.

    It is fitted to the sets of kinds trained on, without the set itself; each set and each label counts the
    same.
    """
    fitted = [other for other in sets if other.trained and other.name != each.name]
    truth = [supported(other) for other in fitted]
    found = fit_logistic(
        np.concatenate([_inputs(parts, scored[other.name]) for other in fitted]),
        np.concatenate(truth),
        np.concatenate([_weights(true) for true in truth]),
    )
    logits = _inputs(parts, scored[each.name]) @ found[:-1] + found[-1]
    return Verdicts(logits, logits >= 0, sigmoid(logits))


def gated(
    score: str, gate: str, each: SupportSet, sets: Sequence[SupportSet], scored: Mapping[str, Scores]
) -> Verdicts:
    """Return what a score says of the claims that pass a gate of 0 or 1; others are refused.

    Its threshold has the best mean balanced accuracy on the kinds trained on, without the set itself.
    """
    fitted = [other for other in sets if other.trained and other.name != each.name]
    truth = [supported(other) for other in fitted]
    open_to = [_refused(scored[other.name], score, gate) for other in fitted]
    steps = np.quantile(np.concatenate(open_to), np.linspace(0.02, 0.98, 97))

    def accuracy(least: float) -> float:
        return float(
            np.mean([balanced_accuracy(true, of >= least) for true, of in zip(truth, open_to, strict=True)])
        )

    own = _refused(scored[each.name], score, gate)
    return Verdicts(own, own >= max(steps, key=accuracy))


def measured(sets: Sequence[SupportSet], said: Sequence[Verdicts]) -> SupportMeasures:
    """Return the means over sets; the intervals are of resampled claims of each set and label."""
    chance = np.random.default_rng(0)
    whole, samples, errors = [], [], []
    for each, of in zip(sets, said, strict=True):
        true = supported(each)
        kinds = [np.flatnonzero(true), np.flatnonzero(~true)]
        whole.append(_both(true, of, np.arange(len(true))))
        samples.append(
            [
                _both(true, of, np.concatenate([chance.choice(kind, len(kind)) for kind in kinds]))
                for _ in range(_SAMPLES)
            ]
        )
        if of.probabilities is not None:
            errors.append(calibration_error(of.probabilities, true))
    value = np.mean(whole, axis=0)
    low, high = np.quantile(np.mean(samples, axis=0), _TAILS, axis=0)
    balanced, area = (Interval(float(value[i]), float(low[i]), float(high[i])) for i in (0, 1))
    return SupportMeasures(balanced, area, float(np.mean(errors)) if errors else None)


def calibration_error(probabilities: Numbers, true: Truth) -> float:
    """Return the expected calibration error in ten bins, as if half of the claims were supported."""
    return sum(each.share * abs(each.predicted - each.observed) for each in bins(probabilities, true))


class SupportBin(NamedTuple):
    """The mean probability and the supported share of the claims of a bin, and its share of all claims."""

    predicted: float
    observed: float
    share: float


def bins(probabilities: Numbers, true: Truth) -> list[SupportBin]:
    """Return the bins that have claims, as if half of all claims were supported."""
    weights = _weights(true) / 2
    places = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    found = []
    for place in range(_BINS):
        of = places == place
        if share := float(weights[of].sum()):
            predicted = float((weights * probabilities)[of].sum()) / share
            found.append(SupportBin(predicted, float(weights[of & true].sum()) / share, share))
    return found


def draw(lines: Mapping[str, Sequence[SupportBin]], file: Path) -> None:
    """Write a plot of the supported share against the probability, one line for each name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, label="as predicted")
    for name, of in lines.items():
        axes.plot([each.predicted for each in of], [each.observed for each in of], marker="o", label=name)
    axes.set(xlabel="predicted probability of support", ylabel="supported share")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=120)


def _inputs(parts: Sequence[str], scores: Scores) -> Numbers:
    return np.stack([scores[part] for part in parts], axis=1)


def _weights(true: Truth) -> Numbers:
    weights: Numbers = np.where(true, 1 / max(1, true.sum()), 1 / max(1, (~true).sum()))
    return weights


def _refused(scores: Scores, score: str, gate: str) -> Numbers:
    found: Numbers = scores[score] - _REFUSED * (scores[gate] == 0)
    return found


def balanced_accuracy(true: Truth, accepted: Truth) -> float:
    """Return the mean share of the true and of the false that are accepted and not accepted."""
    return float((accepted[true].mean() + (~accepted[~true]).mean()) / 2)


def _both(true: Truth, of: Verdicts, places: NDArray[np.intp]) -> tuple[float, float]:
    here, accepted = true[places], of.accepted[places]
    return balanced_accuracy(here, accepted), area_under_curve(of.scores[places], here)
