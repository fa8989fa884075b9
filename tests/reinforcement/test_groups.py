"""GRPO and RLOO by TRL with a tiny model: the reward is ours, and a run resumes to the same weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from citewell.core.errors import InputError
from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.run import Run, RunResult
from citewell.core.types import Reference
from citewell.generator.defaults import read_defaults
from citewell.reinforcement.config import load_config
from citewell.reinforcement.groups import FiniteSteps
from citewell.reinforcement.reward import RatedAnswer
from citewell.reinforcement.run import train
from tests.reinforcement.made_up import share_of_letter, write_recipe, write_start


class CountedReward:
    """The share of a letter, with what was rated."""

    def __init__(self) -> None:
        self.rated: list[tuple[str, str]] = []

    def __call__(self, question: str, references: Sequence[Reference], text: str) -> RatedAnswer:
        """Rate, and remember."""
        self.rated.append((question, text))
        return share_of_letter(question, references, text)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_start(tmp_path_factory.mktemp("world"))


def recipe(world: Path, algorithm: str, **changes: Any) -> Path:
    file = write_recipe(world, f"{algorithm}.toml", "[group]\nanswers = 4\n", **changes)
    file.write_text(f'algorithm = "{algorithm}"\n' + file.read_text())
    return file


def run(file: Path, out: Path, reward: Any, tell: Any = lambda line: None) -> RunResult:
    made = Run(recipe=file, out=out, cache=file.parent / "cache", command="citewell train answers")
    return train(made, tell, reward)


@pytest.mark.parametrize("algorithm", ["grpo", "rloo"])
def test_it_learns_what_our_reward_says(world: Path, algorithm: str) -> None:
    reward = CountedReward()
    file = recipe(world, algorithm, episodes=256, learning_rate=0.01, beta=0.01)
    outcome = run(file, world / algorithm, reward)
    assert outcome.steps == 8
    assert outcome.after["score"] > outcome.before["score"] + 0.1
    assert outcome.after["kl"] > outcome.before["kl"] == 0
    course = [json.loads(line) for line in (world / algorithm / "training.jsonl").read_text().splitlines()]
    scores = [entry["score"] for entry in course if "score" in entry]
    assert len(scores) == 8
    # Beside the demonstrations, and the dev answers before and after: four answers to each question.
    trained = reward.rated[8 + 8 : -8]
    assert len(trained) == 256
    for start in range(0, 256, 4):
        assert len({question for question, _ in trained[start : start + 4]}) == 1
    assert read_defaults(world / algorithm) == read_defaults(world / "start")
    names = load_file(world / algorithm / "adapter_model.safetensors")
    assert not any(".ref." in name or ".reference." in name for name in names)
    assert algorithm.upper() in (world / algorithm / "README.md").read_text()


def test_an_interrupted_run_resumes_to_the_same_weights(world: Path) -> None:
    file = recipe(world, "grpo", episodes=96)
    run(file, world / "whole", share_of_letter)

    def interrupt(line: str) -> None:
        if line.startswith("iteration 2 of"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(file, world / "parts", share_of_letter, interrupt)
    clock = world / "parts" / "checkpoints" / "seconds.json"
    clock.write_text(json.dumps({"seconds": json.loads(clock.read_text())["seconds"] + 1000}))
    told: list[str] = []
    resumed = run(file, world / "parts", share_of_letter, told.append)
    assert resumed.seconds > 1000
    assert "resuming after iteration 1" in told
    name = "adapter_model.safetensors"
    whole, parts = load_file(world / "whole" / name), load_file(world / "parts" / name)
    assert all((whole[key] == parts[key]).all() for key in whole)
    assert (world / "whole" / "training.jsonl").read_text() == (
        world / "parts" / "training.jsonl"
    ).read_text()


@pytest.mark.parametrize("algorithm", ["grpo", "rloo"])
def test_a_loss_that_is_not_finite_ends_the_run(world: Path, algorithm: str) -> None:
    file = recipe(world, algorithm, learning_rate=1e30)
    file.write_text(file.read_text().replace("[training]", "[training]\nclip = 1e30"))
    out = world / f"{algorithm}-nan"
    with pytest.raises(TrainingError, match=r"The (loss|gradient) of step \d+ is (nan|inf)"):
        run(file, out, share_of_letter)
    assert not (out / "adapter_model.safetensors").exists()


def test_a_gradient_that_is_not_finite_is_not_applied() -> None:
    class Trainer:
        state = SimpleNamespace(global_step=6)

        def training_step(self, model: torch.nn.Module, power: float) -> torch.Tensor:
            loss: torch.Tensor = sum(weight.abs().pow(power).sum() for weight in model.parameters())
            loss.backward()
            return loss.detach()

    step = type("Finite", (FiniteSteps, Trainer), {})().training_step
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    assert step(model, 2.0) == 0
    with pytest.raises(TrainingError, match=r"The gradient of step 7 is (nan|inf)"):
        step(model, 0.5)  # whose slope at 0 is infinite


@pytest.mark.parametrize(
    ("extra", "changes", "problem"),
    [
        ("", {"kl_budget": 1.0}, 'ppo.kl_budget needs algorithm = "ppo"'),
        ("", {"minibatch": 6}, "ppo.batch must be a multiple of ppo.minibatch"),
        ("[training]\npatience = 1\n", {}, 'training.patience needs algorithm = "ppo"'),
    ],
)
def test_what_only_ppo_has_is_refused(
    tmp_path: Path, extra: str, changes: dict[str, Any], problem: str
) -> None:
    file = write_recipe(tmp_path, extra=extra, **changes)
    file.write_text('algorithm = "rloo"\n' + file.read_text())
    with pytest.raises(InputError, match=problem):
        load_config(file)
