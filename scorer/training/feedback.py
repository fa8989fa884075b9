"""Training a scorer further on what users of the service said of its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from citewell.core.errors import InputError, ModelError
from citewell.core.progress import Tell
from citewell.core.training.folder import CONFIG
from citewell.scorer.data.config import SplitConfig
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.form import read_form
from citewell.scorer.load import scorer_folder
from citewell.scorer.training.card import ScorerRunResult
from citewell.scorer.training.config import ScorerDataConfig, ScorerRecipe, ScorerTrainingConfig
from citewell.scorer.training.gate import Gate
from citewell.scorer.training.pinned import read_pinned
from citewell.scorer.training.run import ScorerRun, train

FEWEST = 100
"""Comparisons under which a scorer is not trained further: chance alone would decide what it learns."""

SOURCE = "feedback"
_SPLIT = SplitConfig(dev=0.2, test=0.0)
# Slower than training from the start, so that what the scorer knows is not forgotten.
_TRAINING = ScorerTrainingConfig(
    epochs=2, batch=16, learning_rate=5e-5, ema=0.9, eval_every=10, choose_by="accuracy"
)


@dataclass(frozen=True)
class FeedbackRun:
    """Where feedback is read and the new scorer is written. `current` is the scorer that it begins with.

    `command` is what the card says the run was started with. With `force` the scorer is trained on little
    data too, and written though it is worse.
    """

    file: Path
    current: str
    out: Path
    cache: Path
    command: str
    threads: int
    resume: bool = False
    force: bool = False


def retrain(feedback: FeedbackRun, tell: Tell) -> ScorerRunResult:
    """Train the current scorer further, on feedback or on any other file that `citewell.scorer.data` reads.

    A fifth of the questions, always the same, is kept to choose the best checkpoint by. Questions near
    those of the pinned test are left out. Raises `InputError` where the file has too little, or the current
    scorer no test, `GateError` where the new scorer is worse, and what `citewell.scorer.training.run.train`
    raises.
    """
    folder = scorer_folder(feedback.current)
    before = _configuration(folder)
    pinned = read_pinned(folder, read_form(folder))
    reading = ScorerDataConfig(
        name=SOURCE, files=(str(feedback.file.resolve()),), licence="feedback of users"
    )
    data = read_comparisons(feedback.file, reading.reading)
    count = len(data.comparisons)
    if count < FEWEST and not feedback.force:
        raise InputError(
            f"{feedback.file} has {count:,} comparisons, too few to train the scorer further.",
            f"Collect at least {FEWEST:,}, or add --force.",
        )
    if not pinned and not feedback.force:
        raise InputError(
            f"The scorer {feedback.current} has no pinned test, so that a worse one would not be noticed.",
            "Train one with training.pinned and split.test above 0, or add --force.",
        )
    config = ScorerRecipe(
        model=before.model.model_copy(update={"start": str(folder)}),
        data=(reading,),
        split=_SPLIT,
        objective=before.objective.model_copy(update={"formulation": "pairwise"}),
        training=_TRAINING.model_copy(update={"threads": feedback.threads}),
    )
    gate = Gate(pinned, tell, force=feedback.force)
    run = ScorerRun(
        config, feedback.file, feedback.out, feedback.cache, feedback.command, feedback.resume, gate
    )
    return train(run, tell)


def _configuration(folder: Path) -> ScorerRecipe:
    file = folder / CONFIG
    try:
        return ScorerRecipe.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ModelError(
            f"How the scorer in {folder} was trained cannot be read from {CONFIG}: {error}",
            "Copy the scorer again, with all its files.",
        ) from error
