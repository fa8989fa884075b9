"""A training run of a dual encoder, from a recipe to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.models.obtaining import ensure_weights
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.training.card import describe_file, describe_files, write_card
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import finish, open_folder
from citewell.core.training.run import Run, RunResult
from citewell.retriever.encoder.load import EngineName, load_encoder
from citewell.retriever.encoder.resolve import packaged_base, resolve
from citewell.retriever.training.candidates import load_miner
from citewell.retriever.training.card import describe
from citewell.retriever.training.collate import EncoderCollator
from citewell.retriever.training.config import EncoderRecipe, load_config
from citewell.retriever.training.dev import MEAN, measure_dev
from citewell.retriever.training.inner_products import InnerProducts, read_inner_products
from citewell.retriever.training.model import build_model, save_model
from citewell.retriever.training.objectives import AnchorConfig, build_mixture
from citewell.retriever.training.plan import Batch, plan
from citewell.retriever.training.sources import EncoderData, read_data, source_files

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from citewell.core.training.trainer import CheckpointedTrainer

_PACKAGES = ("sentence_transformers", "peft", "datasets", "accelerate", "matplotlib")
_DONE = "modules.json"


def train(run: Run, tell: Log) -> RunResult:
    """Train the encoder that `run.recipe` describes, and write it to `run.out`.

    An interrupted run is resumed. Raises `InputError` for a recipe, data or a folder that cannot be used,
    `ModelError` for a base that cannot be trained, and `TrainingError` for a loss that is not finite.
    """
    need_packages("Training", "train", *_PACKAGES)
    from citewell.core.training.checkpoints import quiet
    from citewell.core.training.plot import PLOT, draw

    config = load_config(run.recipe)
    tell(config.shown())
    # Missing models are reported before anything is computed or written.
    for name in (config.model.base, *(each.teacher(run.folders) for each in config.teachers)):
        ensure_weights(packaged_base(name))
        resolve(name)
    files = describe_files(
        {"train": config.data, "dev": config.dev}, lambda source: source_files(source, run.folders)
    )
    data = read_data(config, run.folders, load_miner(config, run.cache, tell))
    batches = plan(data.train, config.training)
    tell(_summary(data, batches))
    corpus = map(run.folders.find, config.mining.corpus)
    more = [describe_file(file, use="other", source="data") for file in corpus]
    with open_folder(run.out, config.shown(), [*files, *more], done=_DONE):
        quiet()
        model = build_model(config.model, config.training.seed)
        result, history = fit(_task(run, config, data, model, batches, tell), run.out, tell)

        def write(folder: Path) -> None:
            save_model(model, folder, config.model.base)
            draw(history, folder / PLOT)
            card = describe(config, run, data, files, result)
            write_card(folder, card, run, config.training, files, result)

        finish(run.out, write, done=_DONE)
    return result


def _task(
    run: Run,
    config: EncoderRecipe,
    data: EncoderData,
    model: SentenceTransformer,
    batches: list[Batch],
    tell: Log,
) -> FitTask:
    encoders = _encoders(run, config, data, tell)

    def make(arguments: Mapping[str, Any], rows: Any) -> CheckpointedTrainer:
        from sentence_transformers import SentenceTransformerTrainingArguments

        from citewell.retriever.training.trainer import DualEncoderTrainer

        # The trainer requires its own type of collator, and only calls it.
        collator: Any = EncoderCollator(batches, data.train, model.preprocess, encoders)
        return DualEncoderTrainer(
            model=model,
            args=SentenceTransformerTrainingArguments(**arguments),
            train_dataset=rows,
            eval_dataset=rows if data.dev else None,
            loss=build_mixture(model, config.objectives),
            data_collator=collator,
        )

    return FitTask(
        training=config.training,
        make=make,
        sizes=[len(batch.draws) for batch in batches],
        unit="questions",
        goal=Goal(MEAN),
        evaluate=(lambda model: measure_dev(model, data.dev)) if data.dev else None,
    )


def _encoders(run: Run, config: EncoderRecipe, data: EncoderData, tell: Log) -> dict[str, InnerProducts]:
    """Compute the inner products of the training data for each encoder that an objective learns from."""
    from citewell.retriever.losses.encoder_kl import BEFORE

    def read(name: str, engine: EngineName) -> InnerProducts:
        encoder = load_encoder(
            name,
            run.cache,
            max_tokens=config.model.max_tokens,
            threads=config.training.threads,
            engine=engine,
        )
        return read_inner_products(data.train, encoder, run.cache / "vectors", tell)

    found = {each.encoder: read(each.teacher(run.folders), "auto") for each in config.teachers}
    if any(isinstance(objective, AnchorConfig) for objective in config.objectives):
        # Not by the engine of int8, whose errors the model would learn.
        found[BEFORE] = read(config.model.base, "torch")
    return found


def _summary(data: EncoderData, batches: list[Batch]) -> str:
    lines = [f"{source.name}: {len(source.rows):,} training questions" for source in data.train]
    lines += [f"{each.name}: {len(each.rows):,} dev questions for {each.measure}" for each in data.dev]
    return "\n".join([*lines, f"{len(batches):,} steps"])
