"""The dev metrics: how well the model orders the passages of held-out questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from citewell.core.ranking_metrics import Numbers, has_order, pair_accuracy, spearman
from citewell.retriever.training.config import Measure
from citewell.retriever.training.rows import LabeledRow
from citewell.retriever.training.sources import DevSet

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

NDCG_DEPTH = 10
MEAN = "dev"
"""The name of the mean over all dev sets, which selects the best checkpoint."""


def measure_dev(model: SentenceTransformer, sets: Sequence[DevSet]) -> dict[str, float]:
    """Return the metric of each dev set by its name, and their mean under `MEAN`.

    Every distinct text is encoded once. Rows whose labels are all equal have no order, and do not count in
    the mean over questions.
    """
    values = {each.name: measure_rows(model, each.rows, each.measure) for each in sets}
    return {**values, MEAN: float(np.mean(list(values.values())))}


def measure_rows(model: SentenceTransformer, rows: Sequence[LabeledRow], measure: Measure) -> float:
    """Return the mean of a metric over questions; see `citewell.core.ranking_metrics`.

    `ndcg` is nDCG@10 with the label as gain; the logarithms of rankings are converted back to gains.
    """
    kept = [row for row in rows if has_order(row.targets)]
    questions = _unique(row.question for row in kept)
    passages = _unique(text for row in kept for text in row.passages)
    question_vectors = model.encode_query(list(questions), show_progress_bar=False)
    passage_vectors = model.encode_document(list(passages), show_progress_bar=False)
    values = []
    for row in kept:
        vectors = passage_vectors[[passages[text] for text in row.passages]]
        scores = (vectors @ question_vectors[questions[row.question]]).astype(np.float64)
        values.append(measured(np.asarray(row.targets, dtype=np.float64), scores, measure))
    return float(np.mean(values))


def measured(labels: Numbers, scores: Numbers, measure: Measure) -> float:
    """Return the metric of one question's scores."""
    match measure:
        case "pair_accuracy":
            return pair_accuracy(labels, scores)
        case "spearman":
            return spearman(labels, scores)
        case "ndcg":
            gains = np.exp(labels) if labels.min() < 0 else labels
            return _ndcg(gains, scores)


def _ndcg(gains: Numbers, scores: Numbers) -> float:
    top = np.argsort(-scores, kind="stable")[:NDCG_DEPTH]
    best = np.sort(gains)[::-1][:NDCG_DEPTH]
    discounts = 1 / np.log2(np.arange(2, len(top) + 2))
    return float((gains[top] @ discounts) / (best @ discounts))


def _unique(texts: Iterable[str]) -> dict[str, int]:
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}
