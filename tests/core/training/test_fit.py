"""The optimization of every trainer: when it stops, what it resumes, and what it refuses to keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainingArguments

from citewell.core.errors import InputError
from citewell.core.training.card import DataFile
from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.config import PartedOptimizationConfig
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import CONFIG, open_folder
from citewell.core.training.trainer import PlannedTrainer


class Weight(torch.nn.Module):
    """A model of one weight, which should be 5."""

    def __init__(self) -> None:
        super().__init__()
        self.value = torch.nn.Parameter(torch.zeros(1))


def task(measure: Callable[[int], float], *, steps: int = 6, **options: Any) -> tuple[FitTask, Weight]:
    """`measure` gives the dev metric after each step."""
    model = Weight()
    trainers = []

    def make(arguments: dict[str, Any], rows: Any) -> PlannedTrainer:
        trainer = PlannedTrainer(
            model=model,
            args=TrainingArguments(**arguments),
            train_dataset=rows,
            eval_dataset=rows,
            data_collator=lambda rows: {"parts": [{"x": torch.ones(1)}]},
        )
        trainer.part_loss = lambda model, part: (model.value - 5).square().sum()
        trainers.append(trainer)
        return trainer

    training = PartedOptimizationConfig(eval_every=1, log_every=1, learning_rate=0.1, **options)
    made = FitTask(
        training=training,
        make=make,
        sizes=[1] * steps,
        unit="rows",
        goal=Goal("dev"),
        evaluate=lambda model: {"dev": measure(trainers[0].state.global_step)},
    )
    return made, model


def run(made: FitTask, folder: Path) -> Any:
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    return fit(made, folder, lambda text: None).result


def test_a_run_that_stopped_early_does_not_train_on(tmp_path: Path) -> None:
    curve = [0.1, 0.5, 0.4, 0.9, 0.95, 0.2, 0.1]
    made, model = task(curve.__getitem__, patience=1)
    first = run(made, tmp_path)
    assert (first.steps, first.best_step) == (2, 1)
    again, resumed = task(curve.__getitem__, patience=1)
    second = run(again, tmp_path)  # killed before its card was written
    assert (second.steps, second.best_step, second.after) == (2, 1, first.after)
    assert resumed.value.item() == model.value.item()


@pytest.mark.parametrize("patience", [1, None])
def test_a_run_in_a_folder_that_was_moved_keeps_its_best_weights(
    tmp_path: Path, patience: int | None
) -> None:
    curve = [0.1, 0.5, 0.9, 0.4, 0.3, 0.2, 0.1]
    made, model = task(curve.__getitem__, patience=patience)
    first = run(made, tmp_path / "before")
    assert first.best_step == 2
    (tmp_path / "before").rename(tmp_path / "moved")
    again, resumed = task(curve.__getitem__, patience=patience)
    second = run(again, tmp_path / "moved")
    assert (second.steps, second.best_step) == (first.steps, 2)
    assert resumed.value.item() == model.value.item()


@pytest.mark.parametrize("patience", [1, None])
def test_the_seconds_of_all_parts_of_a_run_count(tmp_path: Path, patience: int | None) -> None:
    run(task(lambda step: -step, patience=patience)[0], tmp_path)
    (tmp_path / "checkpoints" / "seconds.json").write_text('{"seconds": 1000}')
    assert run(task(lambda step: -step, patience=patience)[0], tmp_path).seconds >= 1000


def test_a_run_of_one_step_learns(tmp_path: Path) -> None:
    made, model = task(lambda step: step, steps=1)
    run(made, tmp_path)
    assert model.value.item() > 0


def test_a_dev_metric_that_is_not_finite_ends_the_run(tmp_path: Path) -> None:
    made, _ = task(lambda step: math.nan if step == 3 else step / 10)
    with pytest.raises(TrainingError, match="After step 3, eval_dev is nan") as raised:
        run(made, tmp_path)
    assert "another folder" in str(raised.value.hint)


def files(*sums: str) -> list[DataFile]:
    return [DataFile("pairs", "train.jsonl", each, "CC0", "train") for each in sums]


def test_each_of_two_files_of_one_name_is_checked(tmp_path: Path) -> None:
    with open_folder(tmp_path, "{}", files("a", "b"), done="model"):
        pass
    for changed in (("other", "b"), ("a", "other")):
        with (
            pytest.raises(InputError, match="changed since"),
            open_folder(tmp_path, "{}", files(*changed), done="model"),
        ):
            pass
    with open_folder(tmp_path, "{}", files("a", "b"), done="model"):
        pass


def test_a_run_that_was_killed_before_it_began_starts(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    with open_folder(tmp_path, "{}", files("a"), done="model"):
        assert (tmp_path / CONFIG).read_text() == "{}\n"
