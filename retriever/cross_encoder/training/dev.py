"""The dev metrics: how well the scores, alone and added to a dual encoder's, order held-out passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from citewell.core.ranking_metrics import has_order
from citewell.retriever.cross_encoder.pairs import PairTokenizer
from citewell.retriever.cross_encoder.training.config import RerankerRecipe
from citewell.retriever.cross_encoder.training.model import all_scores
from citewell.retriever.training.dev import MEAN, measured
from citewell.retriever.training.inner_products import InnerProducts
from citewell.retriever.training.sources import DevSet

ALONE = "alone"


class RerankerDevSets:
    """Measures a cross-encoder on rows whose pairs are prepared once."""

    def __init__(
        self,
        sets: Sequence[DevSet],
        config: RerankerRecipe,
        tokenizer: PairTokenizer,
        products: InnerProducts,
    ) -> None:
        self._config = config
        self._sets = []
        for each in sets:
            rows = [row for row in each.rows if has_order(row.targets)]
            pairs = [
                tokenizer.pair(asked, passage)
                for row in rows
                for asked, *passages in [tokenizer.texts([row.question, *row.passages])]
                for passage in passages
            ]
            inner = [products.scores([row.question], list(row.passages))[0] for row in rows]
            self._sets.append((each, rows, pairs, inner))

    def measure(self, model: Any) -> dict[str, float]:
        """Return the metric of each set by its name, that of the scores alone, and the mean of the former.

        The metric is of the scores plus `objective.scale` × the inner products of the dual encoder, as in
        the listwise loss.
        """
        config = self._config
        found: dict[str, float] = {}
        for each, rows, pairs, inner in self._sets:
            scores = np.array(
                all_scores(
                    model,
                    pairs,
                    config.model.pooling,
                    bfloat16=config.training.precision == "bfloat16",
                )
            )
            values: dict[str, list[float]] = {"": [], f"_{ALONE}": []}
            start = 0
            for row, products in zip(rows, inner, strict=True):
                own = scores[start : start + len(products)]
                start += len(products)
                targets = np.asarray(row.targets, dtype=np.float64)
                values[""].append(measured(targets, own + config.objective.scale * products, each.measure))
                values[f"_{ALONE}"].append(measured(targets, own, each.measure))
            found |= {each.name + suffix: float(np.mean(listed)) for suffix, listed in values.items()}
        return found | {MEAN: float(np.mean([found[each.name] for each, *_ in self._sets]))}
