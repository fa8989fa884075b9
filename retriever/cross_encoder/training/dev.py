"""The dev metrics: how well the scores, alone and added to a dual encoder's, order held-out passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from citewell.core.logistic import Numbers, fit_logistic
from citewell.core.training.precision import uses_bfloat16
from citewell.retriever.cross_encoder.pairs import PairTokenizer
from citewell.retriever.cross_encoder.training.config import RerankerRecipe
from citewell.retriever.cross_encoder.training.model import all_scores
from citewell.retriever.training.dev import MEAN
from citewell.retriever.training.inner_products import InnerProducts
from citewell.retriever.training.measures import measured_rows
from citewell.retriever.training.sources import DevSet

ALONE = "alone"


class RerankerDevSets:
    """Measures a cross-encoder on rows whose pairs are prepared once."""

    def __init__(
        self,
        sets: Sequence[DevSet],
        config: RerankerRecipe,
        tokenizer: PairTokenizer,
        products: InnerProducts | None,
    ) -> None:
        self._config = config
        self._sets = []
        for each in sets:
            pairs = [
                tokenizer.pair(asked, passage)
                for row in each.rows
                for asked, *passages in [tokenizer.texts([row.question, *row.passages])]
                for passage in passages
            ]
            inner = products and [products.scores([row.question], list(row.passages))[0] for row in each.rows]
            self._sets.append((each, pairs, inner))

    def calibration(self, model: Any) -> tuple[float, float]:
        """Return the slope and the shift of the scores that predict best which claims are supported.

        Each set counts the same, and so do both labels in it; partly supported claims are left out.
        """
        scores, truth, weights = [], [], []
        for each, pairs, _ in self._sets:
            labels = np.array([target for row in each.rows for target in row.targets])
            whole = np.isin(labels, (0, 1))
            supported = labels[whole] == 1
            scores.append(self._scores(model, pairs)[whole])
            truth.append(supported)
            weights.append(np.where(supported, 1 / max(1, supported.sum()), 1 / max(1, (~supported).sum())))
        found = fit_logistic(np.concatenate(scores)[:, None], np.concatenate(truth), np.concatenate(weights))
        return float(found[0]), float(found[1])

    def measure(self, model: Any) -> dict[str, float]:
        """Return the metric of each set by its name, and the mean of these.

        The metric is of the scores plus `objective.scale` × the inner products of the dual encoder, as in
        the listwise loss. If there are any, that of the scores alone is added.
        """
        config = self._config
        found: dict[str, float] = {}
        for each, pairs, inner in self._sets:
            scores = self._scores(model, pairs)
            ends = np.cumsum([len(row.passages) for row in each.rows])[:-1]
            own = np.split(scores, ends)
            added = own
            if inner:
                added = [
                    mine + config.objective.scale * theirs for mine, theirs in zip(own, inner, strict=True)
                ]
                found[f"{each.name}_{ALONE}"] = measured_rows(each.rows, own, each.measure)
            found[each.name] = measured_rows(each.rows, added, each.measure)
        return found | {MEAN: float(np.mean([found[each.name] for each, *_ in self._sets]))}

    def _scores(self, model: Any, pairs: Sequence[Sequence[int]]) -> Numbers:
        bfloat16 = uses_bfloat16(self._config.training.precision)
        return np.array(all_scores(model, pairs, self._config.model.pooling, bfloat16=bfloat16))
