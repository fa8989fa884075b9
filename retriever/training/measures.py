"""The metrics of dev rows, from the labels of their passages and the scores of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.core.ranking_metrics import Numbers, area_under_curve, has_order, ndcg, pair_accuracy, spearman
from citewell.core.training.checkpoints import OTHER_RECIPE, TrainingError
from citewell.retriever.training.config import Measure
from citewell.retriever.training.rows import LabeledRow

NDCG_DEPTH = 10


def measurable(rows: Sequence[LabeledRow], measure: Measure) -> bool:
    """Return whether the labels of the rows differ, so that there is an order to measure."""
    if measure == "auc":
        return {target for row in rows for target in row.targets} >= {0, 1}
    return any(has_order(row.targets) for row in rows)


def measured_rows(rows: Sequence[LabeledRow], scores: Sequence[Numbers], measure: Measure) -> float:
    """Return the metric of rows, given the scores of each row's passages.

    It is the mean over the rows whose labels differ; `auc` compares the pairs of all rows, those with the
    label 1 with those with the label 0. `ndcg` is nDCG@10 with the label as gain; the logarithms of rankings
    are converted back to gains. Raises `TrainingError` if a score is not finite.
    """
    if not all(np.isfinite(found).all() for found in scores):
        raise TrainingError("The model gives scores that are not finite.", OTHER_RECIPE)
    if measure == "auc":
        labels = np.array([target for row in rows for target in row.targets])
        whole = np.isin(labels, (0, 1))
        return area_under_curve(np.concatenate(scores)[whole], labels[whole] == 1)
    values = [
        _measured(np.asarray(row.targets, dtype=np.float64), found.astype(np.float64), measure)
        for row, found in zip(rows, scores, strict=True)
        if has_order(row.targets)
    ]
    return float(np.mean(values))


def _measured(labels: Numbers, scores: Numbers, measure: Measure) -> float:
    """Return the metric of one question's scores."""
    match measure:
        case "pair_accuracy":
            return pair_accuracy(labels, scores)
        case "spearman":
            return spearman(labels, scores)
        case "ndcg":
            gains = np.exp(labels) if labels.min() < 0 else labels
            return ndcg(gains, scores, NDCG_DEPTH)
        case "auc":
            raise AssertionError("measured over all rows at once")
