"""The dev metrics: how well the model orders the passages of held-out questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from citewell.retriever.training.config import Measure
from citewell.retriever.training.measures import measured_rows
from citewell.retriever.training.rows import LabeledRow
from citewell.retriever.training.sources import DevSet

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MEAN = "dev"
"""The name of the mean over all dev sets, which selects the best checkpoint."""


def measure_dev(model: SentenceTransformer, sets: Sequence[DevSet]) -> dict[str, float]:
    """Return the metric of each dev set by its name, and their mean under `MEAN`.

    Every distinct text is encoded once.
    """
    values = {each.name: measure_rows(model, each.rows, each.measure) for each in sets}
    return {**values, MEAN: float(np.mean(list(values.values())))}


def measure_rows(model: SentenceTransformer, rows: Sequence[LabeledRow], measure: Measure) -> float:
    """Return the metric of rows; see `citewell.retriever.training.measures`."""
    questions = _unique(row.question for row in rows)
    passages = _unique(text for row in rows for text in row.passages)
    question_vectors = model.encode_query(list(questions), show_progress_bar=False)
    passage_vectors = model.encode_document(list(passages), show_progress_bar=False)
    scores = [
        passage_vectors[[passages[text] for text in row.passages]] @ question_vectors[questions[row.question]]
        for row in rows
    ]
    return measured_rows(rows, scores, measure)


def _unique(texts: Iterable[str]) -> dict[str, int]:
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}
