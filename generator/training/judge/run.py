"""A training run of a judge, from a recipe to a folder with its adapter and its card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ModelError
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.training.adapters import save_adapters, with_adapters
from citewell.core.training.card import describe_files, write_card
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import finish, open_folder
from citewell.core.training.plan import plan
from citewell.core.training.precision import uses_bfloat16
from citewell.core.training.run import Run, RunResult
from citewell.generator.resolve import resolve
from citewell.generator.training.judge.card import describe
from citewell.generator.training.judge.config import JudgeModelConfig, JudgeRecipe, load_config
from citewell.generator.training.judge.dev import LOSS, JudgeDevSets
from citewell.generator.training.judge.examples import JudgeData, read_examples
from citewell.generator.training.judge.loss import judge_loss, yes_logits
from citewell.generator.training.judge.tokens import JudgeCollator, JudgeTokenizer
from citewell.generator.training.model import DONE, TrainableGenerator, load_source

if TYPE_CHECKING:
    from citewell.core.training.trainer import CheckpointedTrainer

PACKAGES = ("peft", "datasets", "accelerate", "matplotlib")


def train(run: Run, tell: Log) -> RunResult:
    """Train the adapter that `run.recipe` describes, and write it to `run.out`.

    An interrupted run is resumed. Raises `InputError` for a recipe, data or a folder that cannot be used,
    `ModelError` for a base that cannot be trained, and `TrainingError` for a loss that is not finite.
    """
    need_packages("Training", "train", *PACKAGES)
    from citewell.core.training.checkpoints import quiet
    from citewell.core.training.plot import PLOT, draw

    config = load_config(run.recipe)
    tell(config.shown())
    files = describe_files({"train": config.data}, run.folders.files)
    data = read_examples(config, run.folders)
    with open_folder(run.out, config.shown(), files, done=DONE["lora"]):
        quiet()
        trained = build_judge(config, run.cache)
        result, history = fit(_task(config, data, trained, tell), run.out, tell)

        def write(folder: Path) -> None:
            save_adapters(trained.model, folder, config.model.base)
            draw(history, folder / PLOT)
            write_card(
                folder, describe(config, run, data, files, result), run, config.training, files, result
            )

        finish(run.out, write, done=DONE["lora"])
    return result


def build_judge(config: JudgeRecipe, cache: Path) -> TrainableGenerator:
    """Load the base, frozen, with new adapters in its upper layers, drawn by the seed.

    The frozen weights have the format that the recipe computes in. Raises `ModelError` for a base that cannot
    be loaded or has no chat template, and for layers or LoRA targets that it does not have.
    """
    import torch

    model, _, tokenizer = load_source(resolve(config.model.base), cache)
    if uses_bfloat16(config.training.precision):
        model = model.to(torch.bfloat16)
    torch.manual_seed(config.training.seed)
    layers = _layers(model, config.model)
    adapted = with_adapters(model, config.model.lora, "CAUSAL_LM", config.model.base, under=layers)
    return TrainableGenerator(adapted, model, tokenizer)


def _layers(model: Any, config: JudgeModelConfig) -> list[str]:
    """Return the beginnings of the paths of the layers that get adapters."""
    count = model.config.get_text_config().num_hidden_layers
    if config.first_layer >= count:
        raise ModelError(
            f"The model {config.base} has {count} layers, and none from number {config.first_layer} on.",
            "Lower model.first_layer.",
        )
    return [f"model.layers.{number}." for number in range(config.first_layer, count)]


def _task(config: JudgeRecipe, data: JudgeData, trained: TrainableGenerator, tell: Log) -> FitTask:
    tokenizer = JudgeTokenizer(trained.whole, trained.tokenizer)
    rows = [(source, example) for source in data.train for example in source.examples]
    questions = [tokenizer.tokenized(example) for _, example in rows]
    steps = plan([each.size for each in questions], [source.repeat for source, _ in rows], config.training)
    for source in data.train:
        yes = sum(example.yes for example in source.examples) / len(source.examples)
        tell(f"{source.name}: {len(source.examples):,} training examples, {yes:.2f} of them yes")
    tell(f"{len(steps):,} steps, about {sum(step.tokens for step in steps):,} tokens")

    def part_loss(model: Any, part: Mapping[str, Any]) -> Any:
        return judge_loss(yes_logits(model, part, tokenizer.yes, tokenizer.no), part) / part["rows"]

    def make(arguments: Mapping[str, Any], plans: Any) -> CheckpointedTrainer:
        from transformers import TrainingArguments

        from citewell.core.training.trainer import PlannedTrainer

        trainer = PlannedTrainer(
            model=trained.model,
            args=TrainingArguments(**arguments),
            train_dataset=plans,
            eval_dataset=plans if config.measured else None,
            data_collator=JudgeCollator(steps, questions),
        )
        trainer.part_loss = part_loss
        return trainer

    dev = {source.name: [tokenizer.tokenized(each) for each in source.examples] for source in data.dev}
    bfloat16 = uses_bfloat16(config.training.precision)
    measure = JudgeDevSets(dev, tokenizer, bfloat16=bfloat16).measure
    return FitTask(
        training=config.training,
        make=make,
        sizes=[step.tokens for step in steps],
        unit="tokens",
        goal=Goal(LOSS, higher=False),
        evaluate=measure if config.measured else None,
    )
