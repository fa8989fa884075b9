"""Conversion of a planned batch to the input of the loss in sentence-transformers' trainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from citewell.core.training.sources import question_key
from citewell.retriever.training.inner_products import InnerProducts
from citewell.retriever.training.plan import Batch
from citewell.retriever.training.rows import LabeledRow, RowSource, known_answers

GROUP = 32
"""Number of passages that are encoded together. They are of similar length, to limit padding."""

Preprocess = Callable[..., Mapping[str, Any]]


class EncoderCollator:
    """A collator of batches that tokenizes each distinct passage once, and arranges labels as a matrix."""

    # Read by the trainer, which looks for columns of labels in data sets.
    valid_label_columns: Sequence[str] = ()

    def __init__(
        self,
        plan: Sequence[Batch],
        sources: Sequence[RowSource],
        preprocess: Preprocess,
        encoders: Mapping[str, InnerProducts],
    ) -> None:
        """`preprocess` is the method of a SentenceTransformer that tokenizes texts.

        `encoders` are those that objectives learn from, by name.
        """
        self._plan = plan
        self._sources = sources
        self._preprocess = preprocess
        self._encoders = encoders
        self._known = known_answers(sources)

    def __call__(self, features: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the tensors of one batch; `features` holds its position in the plan."""
        import torch

        (feature,) = features
        batch = self._plan[feature["step"]]
        source = self._sources[batch.source]
        rows = [source.rows[draw.row] for draw in batch.draws]
        questions = [row.question for row in rows]
        lists = [
            {
                question_key(row.passages[place]): (row.passages[place], row.targets[place])
                for place in draw.passages
            }
            for row, draw in zip(rows, batch.draws, strict=True)
        ]
        passages = _distinct(lists)
        targets, negatives = self._labels(rows, lists, list(passages))
        texts = list(passages.values())
        tensors: dict[str, Any] = {
            "targets": torch.from_numpy(targets),
            "negatives": torch.from_numpy(negatives),
            "weights": torch.full((len(rows),), source.weight),
            "source": source.name,
            "questions": questions,
            "encoders": {
                name: torch.from_numpy(products.scores(questions, texts))
                for name, products in self._encoders.items()
            },
        }
        tensors |= self._tokens("question", questions, "query")
        for number, start in enumerate(range(0, len(texts), GROUP)):
            tensors |= self._tokens(f"passages{number}", texts[start : start + GROUP], "document")
        return tensors

    def _labels(
        self,
        rows: Sequence[LabeledRow],
        lists: Sequence[Mapping[str, tuple[str, float]]],
        passages: Sequence[str],
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        columns = {name: column for column, name in enumerate(passages)}
        targets = np.full((len(rows), len(passages)), np.nan, dtype=np.float32)
        negatives = np.ones((len(rows), len(passages)), dtype=np.bool_)
        for number, (row, listed) in enumerate(zip(rows, lists, strict=True)):
            known = self._known[question_key(row.question)]
            # Another source may know an answer that is labeled 0 here. Logarithms are never above 0.
            has_positive = any(target > 0 for _, target in listed.values())
            for name, (_, target) in listed.items():
                if not (has_positive and target <= 0 and name in known):
                    targets[number, columns[name]] = target
            for name in listed.keys() | known:
                if name in columns:
                    negatives[number, columns[name]] = False
        return targets, negatives

    def _tokens(self, column: str, texts: list[str], task: str) -> dict[str, Any]:
        return {f"{column}_{name}": value for name, value in self._preprocess(texts, task=task).items()}


def _distinct(lists: Sequence[Mapping[str, tuple[str, float]]]) -> dict[str, str]:
    """Return the passages by key, shortest first; of texts with one key, the first counts."""
    found: dict[str, str] = {}
    for listed in lists:
        for name, (text, _) in listed.items():
            found.setdefault(name, text)
    return dict(sorted(found.items(), key=lambda item: (len(item[1]), item[0])))
