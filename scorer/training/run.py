"""A training run of a scorer, from a recipe to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.training.card import describe_files, write_card
from citewell.core.training.checkpoints import last_checkpoint, quiet
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import CHECKPOINTS, finish, open_folder
from citewell.core.training.plan import PlannedStep, plan
from citewell.core.training.run import Run, RunResult
from citewell.scorer.data.types import Comparison
from citewell.scorer.form import Form
from citewell.scorer.training.calibration import ScoreScale, calibrate
from citewell.scorer.training.card import describe
from citewell.scorer.training.collate import ScorerCollator, measure
from citewell.scorer.training.config import ScorerRecipe, load_config
from citewell.scorer.training.dev import ScorerDevSets
from citewell.scorer.training.elements import Element, elements, without_ties
from citewell.scorer.training.gate import Gate
from citewell.scorer.training.loss import loss_of
from citewell.scorer.training.measures import measure as measure_pairs
from citewell.scorer.training.measures import scored
from citewell.scorer.training.model import DONE, TrainableScorer, build_model, round_trained, save_model
from citewell.scorer.training.pinned import choose_pinned, write_pinned
from citewell.scorer.training.probe import fit_probe
from citewell.scorer.training.sources import ComparisonSource, Sources, read_sources
from citewell.scorer.training.task import fit_task
from citewell.scorer.training.tuning import tune

_PACKAGES = ("peft", "datasets", "accelerate", "matplotlib")
_TUNING = "tuning"


def train(run: Run, tell: Log) -> RunResult:
    """Train the scorer that `run.recipe` describes; see `train_scorer`."""
    return train_scorer(run, load_config(run.recipe), tell)


def train_scorer(run: Run, config: ScorerRecipe, tell: Log, gate: Gate | None = None) -> RunResult:
    """Train the scorer that `config` describes, and write it to `run.out` if it passes the gate.

    An interrupted run is resumed. Raises `InputError` for data or a folder that cannot be used, `ModelError`
    for a base that cannot be trained, `TrainingError` for a loss that is not finite, and `GateError`.
    """
    need_packages("Training", "train", *_PACKAGES)
    gate = gate or Gate((), tell, force=False)
    tell(config.shown())
    files = describe_files({"train, dev, test": config.data, "dev": config.dev}, run.folders.files)
    sources = read_sources(config, run.folders, tell, [each.question for each in gate.pinned])
    if config.training.patience is not None and not sources.dev:
        raise InputError("Early stopping needs dev data.", "Raise split.dev, or add data.")
    examples = [_elements(source, config) for source in sources.train]
    flat = [element for each in examples for element in each]
    if not flat:
        raise InputError("No comparison is left to train on.", 'Set ties = "soft", or add data.')
    with open_folder(run.out, config.shown(), files, done=DONE):
        quiet()
        trainable = build_model(config.model, run.cache, config.training.seed)
        steps = _plan(config, sources, examples, trainable)
        tell(_summary(sources, steps))
        dev = ScorerDevSets(sources.dev, trainable.encoder, trainable.pooling)
        _check_measure(config.training.choose_by, dev)
        _initialize(trainable, flat, config, run.out, tell)
        gate.before(dev, trainable.model)
        result, history = fit(_task(config, trainable, flat, steps, dev), run.out, tell)
        round_trained(trainable.model)
        checked = gate.after(dev, trainable.model)
        test = ScorerDevSets(sources.test, trainable.encoder, trainable.pooling)
        if sources.test:
            result = replace(result, test=test.measure(trainable.model))
        scale = _calibrated(config, trainable, flat, sources, dev)
        pinned = gate.pinned or choose_pinned(test.comparisons, config.training.pinned, config.training.seed)

        def write(folder: Path) -> None:
            from citewell.core.training.plot import PLOT, draw

            save_model(trainable, folder, _form(config, trainable, scale, write_pinned(pinned, folder)))
            draw(history, folder / PLOT)
            card = describe(config, run, sources, files, result, scale.elo, checked)
            write_card(folder, card, run, config.training, files, result)

        finish(run.out, write, done=DONE)
    return result


def _check_measure(chosen_by: str, dev: ScorerDevSets) -> None:
    """Raise `InputError` if the dev comparisons do not have the measure that chooses the weights."""
    pairs = scored(dev.comparisons, [0.0] * len(dev.comparisons))
    if dev.comparisons and chosen_by not in measure_pairs(pairs):
        raise InputError(
            f"The {len(dev.comparisons):,} dev comparisons do not define the measure {chosen_by}: they are "
            "ties, or none has answers of about the same length.",
            "Choose by pair_loss, or add dev data.",
        )


def _elements(source: ComparisonSource, config: ScorerRecipe) -> list[Element]:
    groups = without_ties(source.groups) if config.objective.ties == "drop" else source.groups
    return elements(groups, source.voted, config.objective.formulation, config.training.seed)


def _plan(
    config: ScorerRecipe, sources: Sources, examples: Sequence[Sequence[Element]], trainable: TrainableScorer
) -> list[PlannedStep]:
    match_length = config.objective.match_length
    sizes = [measure(element, trainable.encoder, match_length) for each in examples for element in each]
    repeats = [source.repeat for source, each in zip(sources.train, examples, strict=True) for _ in each]
    return plan(sizes, repeats, config.training)


def _initialize(
    trainable: TrainableScorer, examples: list[Element], config: ScorerRecipe, out: Path, tell: Log
) -> None:
    """Fine-tune the base and fit the head as a probe, if the recipe says so and no checkpoint has this."""
    import torch

    if config.tuning.epochs and not trainable.base.is_causal:
        raise InputError(
            f"{config.model.base} is an encoder, which cannot be fine-tuned to write answers.",
            "Remove tuning.epochs, or use a causal language model.",
        )
    if last_checkpoint(out / CHECKPOINTS) is not None:
        return
    torch.set_num_threads(config.training.threads)
    if config.tuning.epochs:
        tune(trainable, examples, config, out / CHECKPOINTS / _TUNING, tell)
    if config.training.probe is not None:
        fit_probe(trainable, examples, config, tell)


def _task(
    config: ScorerRecipe,
    trainable: TrainableScorer,
    examples: list[Element],
    steps: list[PlannedStep],
    dev: ScorerDevSets,
) -> FitTask:
    from citewell.scorer.model import pooled

    def loss(model: Any, part: Mapping[str, Any]) -> Any:
        vectors = pooled(model.backbone, part["inputs"], trainable.pooling)
        scores = model.head(model.dropout(vectors))[:, 0]
        return loss_of(scores.float(), part, config.objective)

    selected_by = config.training.choose_by
    return fit_task(
        trainable,
        config.training,
        steps,
        ScorerCollator(steps, examples, trainable.encoder, match_length=config.objective.match_length),
        loss,
        Goal(selected_by, higher=selected_by != "pair_loss"),
        dev.measure if dev.comparisons else None,
    )


def _calibrated(
    config: ScorerRecipe,
    trainable: TrainableScorer,
    examples: list[Element],
    sources: Sources,
    dev: ScorerDevSets,
) -> ScoreScale:
    known = dev.comparisons or [each for source in sources.train for each in _comparisons(source)]
    training = config.training
    return calibrate(trainable, examples, dev, known, most=training.calibrate, seed=training.seed)


def _form(config: ScorerRecipe, trainable: TrainableScorer, scale: ScoreScale, pinned: str) -> Form:
    return Form(
        base=config.model.base,
        depth=config.model.depth,
        tuning=config.model.tuning,
        pooling=trainable.pooling,
        layout=config.model.layout,
        mean=scale.mean,
        std=scale.std,
        elo=scale.elo,
        pinned=pinned,
    )


def _comparisons(source: ComparisonSource) -> list[Comparison]:
    return [comparison for group in source.groups for comparison in group.comparisons]


def _summary(sources: Sources, steps: Sequence[PlannedStep]) -> str:
    uses = {"training": sources.train, "dev": sources.dev, "test": sources.test}
    lines = [
        f"{source.name}: {len(source.groups):,} {use} questions, {source.comparisons:,} comparisons"
        for use, each in uses.items()
        for source in each
    ]
    tokens = sum(step.tokens for step in steps)
    return "\n".join([*lines, f"{len(steps):,} steps, about {tokens:,} tokens"])
