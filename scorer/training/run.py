"""A training run of a scorer, from a recipe to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Tell
from citewell.core.training.checkpoints import quiet
from citewell.core.training.folder import CHECKPOINTS, finish, open_folder
from citewell.scorer.data.types import Comparison
from citewell.scorer.form import Form
from citewell.scorer.training.calibration import calibrate
from citewell.scorer.training.card import ScorerRunResult, write_card
from citewell.scorer.training.collate import ScorerCollator, measure
from citewell.scorer.training.config import ScorerRecipe
from citewell.scorer.training.dev import ScorerDevSets
from citewell.scorer.training.elements import Element, elements
from citewell.scorer.training.gate import Gate
from citewell.scorer.training.loss import loss_of
from citewell.scorer.training.model import DONE, TrainableScorer, build_model, round_trained, save_model
from citewell.scorer.training.pinned import choose_pinned, write_pinned
from citewell.scorer.training.plan import ScorerStep, plan
from citewell.scorer.training.probe import fit_probe
from citewell.scorer.training.sources import ComparisonSource, Sources, read_sources
from citewell.scorer.training.tuning import tune

if TYPE_CHECKING:
    from transformers import TrainerState

_PACKAGES = ("peft", "datasets", "accelerate", "matplotlib")
_TUNING = "tuning"


@dataclass(frozen=True)
class ScorerRun:
    """Where a run reads and writes. `recipe` is the file beside which data are looked for.

    `command` is what the card says it was started with. A `gate` has the pinned test that is handed down by
    the scorer that the run begins with, and must be passed before the new one is written.
    """

    config: ScorerRecipe
    recipe: Path
    out: Path
    cache: Path
    command: str
    resume: bool = False
    gate: Gate | None = None


def train(run: ScorerRun, tell: Tell) -> ScorerRunResult:
    """Train the scorer that `run.config` describes, and write it to `run.out`.

    With `resume` a run that was interrupted goes on from its last complete checkpoint, with the result that
    it would have had otherwise. Raises `InputError` for data that cannot be used and for a folder that holds
    something else, `ModelError` for a base that cannot be trained, `TrainingError` for a loss that is no
    number, and `GateError` for a scorer that does not pass the gate.
    """
    need_packages("Training", "train", *_PACKAGES)
    config = run.config
    tell(config.shown())
    pinned = run.gate.pinned if run.gate is not None else ()
    sources = read_sources(config, run.recipe, tell, [each.question for each in pinned])
    if config.training.patience is not None and not sources.dev:
        raise InputError("There is no dev data to stop early by.", "Raise split.dev, or give more data.")
    if config.tuning.epochs and config.objective.formulation != "pairwise":
        raise InputError("Fine-tuning comes before comparisons only.", "Leave tuning.epochs out.")
    open_folder(run.out, config.shown(), done=DONE, resume=run.resume)
    quiet()
    trainable = build_model(config.model, run.cache, config.training.seed)
    if config.tuning.epochs and not trainable.base.is_causal:
        raise InputError(
            f"{config.model.base} is an encoder, which cannot be fine-tuned to write answers.",
            "Leave tuning.epochs out, or give a causal language model.",
        )
    learnt = [_learnt(source, config) for source in sources.train]
    flat = [element for each in learnt for element in each]
    steps = _plan(config, sources, learnt, trainable)
    tell(_summary(sources, steps))
    return _train(run, sources, trainable, flat, steps, tell)


def _learnt(source: ComparisonSource, config: ScorerRecipe) -> list[Element]:
    return elements(source.groups, source.voted, config.objective.formulation, config.training.seed)


def _plan(
    config: ScorerRecipe, sources: Sources, learnt: Sequence[Sequence[Element]], trainable: TrainableScorer
) -> list[ScorerStep]:
    training = config.training
    return plan(
        [
            measure(element, trainable.encoder, config.objective.match_length)
            for each in learnt
            for element in each
        ],
        [source.repeat for source, each in zip(sources.train, learnt, strict=True) for _ in each],
        epochs=training.epochs,
        batch=training.batch,
        part_tokens=training.part_tokens,
        seed=training.seed,
        steps=training.steps,
    )


def _train(
    run: ScorerRun,
    sources: Sources,
    trainable: TrainableScorer,
    learnt: list[Element],
    steps: list[ScorerStep],
    tell: Tell,
) -> ScorerRunResult:
    import torch
    from datasets import Dataset

    from citewell.core.training.average import Average
    from citewell.core.training.checkpoints import checkpoint_step, last_checkpoint
    from citewell.core.training.plot import PLOT, draw
    from citewell.core.training.progress import Progress
    from citewell.scorer.model import pooled
    from citewell.scorer.training.trainer import ScorerTrainer, arguments

    config, training = run.config, run.config.training
    torch.set_num_threads(training.threads)
    checkpoint = last_checkpoint(run.out / CHECKPOINTS)
    if config.tuning.epochs and checkpoint is None:
        tune(trainable, learnt, config, run.out / CHECKPOINTS / _TUNING, tell)
    model: Any = trainable.model
    if training.probe is not None and checkpoint is None:
        fit_probe(trainable, learnt, config, tell)
    dev = ScorerDevSets(sources.dev, trainable.encoder, trainable.pooling)
    rows = Dataset.from_dict({"step": list(range(len(steps)))})
    # The trainer asks for a collator of its own kind, and calls it only.
    collator: Any = ScorerCollator(
        steps, learnt, trainable.encoder, match_length=config.objective.match_length
    )
    progress = Progress([step.tokens for step in steps], "tokens", run.out, tell)
    measured = bool(sources.dev)
    trainer = ScorerTrainer(
        model=model,
        args=arguments(training, run.out / CHECKPOINTS, measured=measured, resumed=checkpoint is not None),
        train_dataset=rows,
        eval_dataset=rows if measured else None,
        data_collator=collator,
    )
    average = Average(model, training.ema) if training.ema is not None else None

    def loss(model: Any, part: Mapping[str, Any]) -> Any:
        vectors = pooled(model.backbone, part["inputs"], trainable.pooling)
        scores = model.head(model.dropout(vectors))[:, 0]
        return loss_of(scores.float(), part, config.objective)

    if run.gate is not None:
        run.gate.before(dev, model)
    trainer.head_rate = training.head_rate
    trainer.begin(loss, progress, training.patience, dev.measure, average)
    if checkpoint is not None:
        tell(f"going on after step {checkpoint_step(checkpoint):,}")
    if steps:
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    elif measured:
        trainer.evaluate()
    if average is not None:
        average.apply()
    round_trained(model)
    checked = run.gate.after(dev, model) if run.gate is not None else {}
    test = ScorerDevSets(sources.test, trainable.encoder, trainable.pooling)
    outcome = _outcome(
        trainer.state,
        steps,
        progress.seconds,
        _device(training.threads),
        test.measure(model) if sources.test else {},
        checked,
    )
    known = dev.comparisons or [each for source in sources.train for each in _comparisons(source)]
    scale = calibrate(trainable, learnt, dev, known, most=training.calibrate, seed=training.seed)
    handed_down = run.gate.pinned if run.gate is not None else ()
    pinned = handed_down or choose_pinned(test.comparisons, training.pinned, training.seed)

    def write(folder: Path) -> None:
        form = Form(
            base=config.model.base,
            depth=config.model.depth,
            tuning=config.model.tuning,
            pooling=trainable.pooling,
            layout=config.model.layout,
            mean=scale.mean,
            std=scale.std,
            elo=scale.elo,
            pinned=write_pinned(pinned, folder),
        )
        save_model(trainable, folder, form)
        if steps:
            draw(trainer.state.log_history, folder / PLOT, "")
        write_card(folder, run.out.resolve().name, config, run.recipe, sources, run.command, outcome, form)

    finish(run.out, write, done=DONE)
    return outcome


def _comparisons(source: ComparisonSource) -> list[Comparison]:
    return [comparison for group in source.groups for comparison in group.comparisons]


def _outcome(
    state: TrainerState,
    steps: Sequence[ScorerStep],
    seconds: float,
    device: str,
    test: Mapping[str, float],
    checked: Mapping[str, float],
) -> ScorerRunResult:
    from citewell.core.training.progress import dev_metrics

    measured = {entry["step"]: dev_metrics(entry) for entry in state.log_history if "eval_accuracy" in entry}
    best = state.best_global_step or state.global_step
    return ScorerRunResult(
        state.global_step,
        best,
        round(seconds, 1),
        device,
        sum(step.tokens for step in steps[: state.global_step]),
        measured.get(0, {}),
        measured.get(best, {}),
        test,
        checked,
    )


def _device(threads: int) -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"{threads} CPU threads"


def _summary(sources: Sources, steps: Sequence[ScorerStep]) -> str:
    uses = {"to learn from": sources.train, "to choose by": sources.dev, "to test on": sources.test}
    lines = [
        f"{source.name}: {len(source.groups):,} questions, {source.comparisons:,} comparisons {use}"
        for use, each in uses.items()
        for source in each
    ]
    tokens = sum(step.tokens for step in steps)
    return "\n".join([*lines, f"{len(steps):,} steps, about {tokens:,} tokens"])
