"""The scale of scores: mean 0 and deviation 1 over what was learnt from (WebGLM §3.3)."""

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
    """Mean and deviation of the head's output, and `elo`: the logit that a difference of one deviation is."""

    mean: float
    std: float
    elo: float


def calibrate(
    trainable: TrainableScorer,
    learnt: Sequence[Element],
    dev: ScorerDevSets,
    comparisons: Sequence[Comparison],
    *,
    most: int,
    seed: int,
) -> ScoreScale:
    """Measure the scale on at most `most` answers that were learnt from, drawn by the seed.

    `elo` is what gives `comparisons` the highest likelihood: those of the dev sets, since a model is too sure
    of those that it has learnt from. Raises `TrainingError` where all answers have the same score.
    """
    rows = [(element.question, *answer) for element in learnt for answer in element.answers]
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
            "The scorer gives all answers the same score: it has learnt nothing.",
            "Raise learning_rate or the number of steps, or look at the data.",
        )
    pairs = scored(comparisons, dev.logits(model, comparisons))
    return ScoreScale(mean, std, std * best_scale(pairs.logits, pairs.preferences))
