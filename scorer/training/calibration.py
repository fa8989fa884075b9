"""The scale of scores: mean 0 and deviation 1 over the training data (WebGLM §3.3)."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from citewell.core.training.checkpoints import TrainingError
from citewell.scorer.data.types import Comparison
from citewell.scorer.load import raw_of_rows
from citewell.scorer.training.dev import ScorerDevSets
from citewell.scorer.training.elements import Element
from citewell.scorer.training.measures import best_scale, scored
from citewell.scorer.training.model import TrainableScorer


class ScoreScale(NamedTuple):
    """Mean and deviation of the head's output; `elo` is the logit of a difference of one deviation."""

    mean: float
    std: float
    elo: float


def calibrate(
    trainable: TrainableScorer,
    learned: Sequence[Element],
    dev: ScorerDevSets,
    comparisons: Sequence[Comparison],
    *,
    most: int,
    seed: int,
) -> ScoreScale:
    """Measure the scale on at most `most` training answers, drawn by the seed.

    `elo` maximizes the likelihood of `comparisons`, which come from the dev sets, since a model is
    overconfident on its training data. Raises `TrainingError` if all answers have the same score.
    """
    rows = [(element.question, *answer) for element in learned for answer in element.answers]
    if len(rows) > most:
        rows = random.Random(f"{seed} calibrate").sample(rows, most)  # noqa: S311
    model: Any = trainable.model
    model.eval()
    encoder = trainable.encoder
    raw = raw_of_rows(
        model.backbone, model.head, encoder, [encoder.encode(*row) for row in rows], trainable.pooling
    )
    mean, std = statistics.fmean(raw), statistics.pstdev(raw)
    if std < 1e-6:
        raise TrainingError(
            "The scorer gives all answers the same score: it has learned nothing.",
            "Raise learning_rate or the number of steps, or look at the data.",
        )
    pairs = scored(comparisons, dev.logits(model, comparisons))
    return ScoreScale(mean, std, std * best_scale(pairs.logits, pairs.preferences))
