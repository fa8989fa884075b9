"""Training a scorer further on the feedback of users of the service."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from citewell.core.errors import InputError, ModelError
from citewell.core.progress import Log
from citewell.core.training.folder import CONFIG
from citewell.core.training.run import Run, RunResult
from citewell.scorer.data.config import SplitConfig
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.form import read_form
from citewell.scorer.load import scorer_folder
from citewell.scorer.training.config import ScorerDataConfig, ScorerRecipe, ScorerTrainingConfig
from citewell.scorer.training.gate import Gate
from citewell.scorer.training.pinned import read_pinned
from citewell.scorer.training.run import train_scorer

MINIMUM = 100
"""Minimum number of comparisons to train a scorer further: with fewer, it would fit noise."""

SOURCE = "feedback"
_SPLIT = SplitConfig(dev=0.2, test=0.0)
# Slower than training from scratch, so that the scorer does not forget.
_TRAINING = ScorerTrainingConfig(
    epochs=2, batch=16, learning_rate=5e-5, ema=0.9, eval_every=10, choose_by="accuracy"
)


def retrain(run: Run, scorer: str, tell: Log, *, threads: int, force: bool = False) -> RunResult:
    """Train a scorer further, on feedback or on any other file that `citewell.scorer.data` reads.

    The file is `run.recipe`. A fifth of its questions, always the same, selects the best checkpoint.
    Questions near those of the pinned test are skipped. Unless `force` is given, raises `InputError` for a
    file with too few comparisons or a scorer without a pinned test, and `GateError` if the new scorer is
    worse. Also raises the errors of `train_scorer`.
    """
    folder = scorer_folder(scorer)
    before = _configuration(folder)
    pinned = read_pinned(folder, read_form(folder))
    reading = ScorerDataConfig(name=SOURCE, files=(str(run.recipe.resolve()),), license="feedback of users")
    data = read_comparisons(run.recipe, reading.reading)
    count = len(data.comparisons)
    if count < MINIMUM and not force:
        raise InputError(
            f"{run.recipe} has {count:,} comparisons, too few to train the scorer further.",
            f"Collect at least {MINIMUM:,}, or add --force.",
        )
    if not pinned and not force:
        raise InputError(
            f"The scorer {scorer} has no pinned test, so a worse successor would go unnoticed.",
            "Train one with training.pinned and split.test above 0, or add --force.",
        )
    config = ScorerRecipe(
        model=before.model.model_copy(update={"start": str(folder)}),
        data=(reading,),
        split=_SPLIT,
        objective=before.objective.model_copy(update={"formulation": "pairwise"}),
        training=_TRAINING.model_copy(update={"threads": threads}),
    )
    return train_scorer(run, config, tell, Gate(pinned, tell, force=force))


def _configuration(folder: Path) -> ScorerRecipe:
    file = folder / CONFIG
    try:
        return ScorerRecipe.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ModelError(
            f"How the scorer in {folder} was trained cannot be read from {CONFIG}: {error}",
            "Copy the scorer again, with all its files.",
        ) from error
