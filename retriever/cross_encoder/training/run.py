"""A training run of a cross-encoder, from a recipe to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.training.card import describe_file, describe_files, write_card
from citewell.core.training.fields import text
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import finish, open_folder
from citewell.core.training.plan import PlannedStep, plan
from citewell.core.training.run import Run, RunResult
from citewell.core.training.sources import question_key
from citewell.retriever.cross_encoder.pairs import PairTokenizer
from citewell.retriever.cross_encoder.resolve import base_tower
from citewell.retriever.cross_encoder.training.card import describe
from citewell.retriever.cross_encoder.training.collate import GroupCollator, PassageGroup
from citewell.retriever.cross_encoder.training.config import RerankerRecipe, load_config
from citewell.retriever.cross_encoder.training.dev import RerankerDevSets
from citewell.retriever.cross_encoder.training.loss import loss_of
from citewell.retriever.cross_encoder.training.model import DONE, build_model, pair_scores, save_model
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.training.candidates import load_miner
from citewell.retriever.training.dev import MEAN
from citewell.retriever.training.inner_products import InnerProducts, read_inner_products
from citewell.retriever.training.rows import RowSource
from citewell.retriever.training.sources import EncoderData, read_data, source_files

if TYPE_CHECKING:
    from citewell.core.training.trainer import CheckpointedTrainer

_PACKAGES = ("peft", "datasets", "accelerate", "matplotlib")


def train(run: Run, tell: Log) -> RunResult:
    """Train the cross-encoder that `run.recipe` describes, and write it to `run.out`.

    An interrupted run is resumed. Raises `InputError` for a recipe, data or a folder that cannot be used,
    `ModelError` for a base that cannot be trained, and `TrainingError` for a loss that is not finite.
    """
    need_packages("Training", "train", *_PACKAGES)
    from citewell.core.training.checkpoints import quiet
    from citewell.core.training.plot import PLOT, draw

    config = load_config(run.recipe)
    tell(config.shown())
    tower = base_tower(config.model.base)
    files = describe_files(
        {"train": config.data, "dev": config.dev}, lambda source: source_files(source, run.folders)
    )
    data = read_data(config, run.folders, load_miner(config, run.cache, tell), _excluded(config, run))
    groups, repeats = _groups(config, data)
    products = _products(config, run.cache, data, tell)
    tokenizer = PairTokenizer(
        tower.tokenizer,
        max_tokens=config.model.max_tokens,
        question_tokens=config.model.question_tokens,
    )
    collator = GroupCollator(
        groups,
        tokenizer,
        products,
        list_size=config.training.list_size,
        seed=config.training.seed,
    )
    steps = plan(collator.measure(), repeats, config.training)
    collator.follow(steps)
    tell(_summary(data, steps))
    names = (*config.mining.corpus, *config.excluded)
    more = [describe_file(run.folders.find(name), use="other", source="data") for name in names]
    with open_folder(run.out, config.shown(), [*files, *more], done=DONE):
        quiet()
        model = build_model(config.model, config.training.seed)
        dev = RerankerDevSets(data.dev, config, tokenizer, products) if data.dev else None
        result, history = fit(_task(config, model, steps, collator, dev), run.out, tell)

        calibration = dev.calibration(model) if dev and config.reads_claims else None

        def write(folder: Path) -> None:
            save_model(model, folder, config.model, calibration)
            draw(history, folder / PLOT)
            write_card(
                folder, describe(config, run, data, files, result), run, config.training, files, result
            )

        finish(run.out, write, done=DONE)
    return result


def _task(
    config: RerankerRecipe,
    model: Any,
    steps: Sequence[PlannedStep],
    collator: GroupCollator,
    dev: RerankerDevSets | None,
) -> FitTask:
    def loss(model: Any, part: Mapping[str, Any]) -> Any:
        scores = pair_scores(model, part["inputs"], config.model.pooling)
        return loss_of(scores, part, scale=config.objective.scale, binary=config.objective.binary)

    def make(arguments: Mapping[str, Any], rows: Any) -> CheckpointedTrainer:
        from transformers import TrainingArguments

        from citewell.core.training.trainer import HeadedTrainer

        # The trainer requires its own type of collator, and only calls it.
        collate: Any = collator
        trainer = HeadedTrainer(
            model=model,
            args=TrainingArguments(**arguments),
            train_dataset=rows,
            eval_dataset=rows if dev else None,
            data_collator=collate,
        )
        trainer.part_loss = loss
        trainer.head_rate = config.training.head_rate
        return trainer

    return FitTask(
        training=config.training,
        make=make,
        sizes=[step.tokens for step in steps],
        unit="tokens",
        goal=Goal(MEAN),
        evaluate=dev.measure if dev else None,
    )


def _groups(config: RerankerRecipe, data: EncoderData) -> tuple[list[PassageGroup], list[int]]:
    """Return all training rows, and how often each is seen per epoch.

    Raises `InputError` for labels that are not between 0 and 1.
    """
    groups, repeats = [], []
    for source, about in zip(data.train, config.data, strict=True):
        beyond = next((each for row in source.rows for each in row.targets if not 0 <= each <= 1), None)
        if beyond is not None:
            raise InputError(
                f"The label {about.label} of the source {source.name} gives {beyond:.3g}, "
                "and a cross-encoder learns labels between 0 and 1.",
                "Use another label: `citewell train retriever` learns from rankings and from grades above 1.",
            )
        groups += [PassageGroup(row, source.weight, about.typed) for row in source.rows]
        repeats += [source.repeat] * len(source.rows)
    return groups, repeats


def _products(config: RerankerRecipe, cache: Path, data: EncoderData, tell: Log) -> InnerProducts | None:
    if config.objective.scale == 0:
        return None
    encoder = load_encoder(
        config.objective.encoder, cache, max_tokens=config.model.max_tokens, threads=config.training.threads
    )
    sources = [*data.train, *(RowSource(each.name, each.rows) for each in data.dev)]
    return read_inner_products(sources, encoder, cache / "vectors", tell)


def _excluded(config: RerankerRecipe, run: Run) -> frozenset[str]:
    return frozenset(
        question_key(text(line, line.row(), "question"))
        for name in config.excluded
        for line in read_lines(run.folders.find(name))
    )


def _summary(data: EncoderData, steps: Sequence[PlannedStep]) -> str:
    lines = [f"{source.name}: {len(source.rows):,} training questions" for source in data.train]
    lines += [f"{each.name}: {len(each.rows):,} dev questions for {each.measure}" for each in data.dev]
    tokens = sum(step.tokens for step in steps)
    return "\n".join([*lines, f"{len(steps):,} steps, about {tokens:,} tokens"])
