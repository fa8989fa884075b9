"""Whole runs of PPO with a tiny model: they learn, stop, resume, and write what answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from citewell.core.errors import InputError
from citewell.core.settings import GeneratorSettings
from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.run import Run, RunResult
from citewell.core.types import Reference
from citewell.generator.defaults import read_defaults
from citewell.generator.load import load_local
from citewell.reinforcement.reward import Reward
from citewell.reinforcement.run import train
from tests.reinforcement.made_up import share_of_letter, write_recipe, write_start


def run(recipe: Path, out: Path, reward: Reward | None = share_of_letter) -> tuple[RunResult, list[str]]:
    told: list[str] = []
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train answers")
    return train(made, told.append, reward), told


def log(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]


def curve(out: Path, name: str) -> list[float]:
    return [entry[name] for entry in log(out) if name in entry]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_start(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def learned(world: Path) -> tuple[Path, RunResult, list[str]]:
    recipe = write_recipe(world, "learn.toml", episodes=256, beta=0.0)
    out = world / "learned"
    return (out, *run(recipe, out))


def test_it_learns_what_is_rewarded(learned: tuple[Path, RunResult, list[str]]) -> None:
    out, outcome, told = learned
    scores = curve(out, "score")
    assert len(scores) == outcome.steps == 8
    assert sum(scores[-3:]) / 3 > sum(scores[:3]) / 3 + 0.3
    assert outcome.after["score"] > outcome.before["score"] + 0.3
    assert any("iteration 3 of 8" in line and "left" in line and "tokens/s" in line for line in told)


def test_the_penalty_keeps_the_policy_near_its_start(
    world: Path, learned: tuple[Path, RunResult, list[str]]
) -> None:
    run(write_recipe(world, "held.toml", episodes=256, beta=1.0), world / "held")
    assert curve(world / "held", "kl")[-1] < curve(learned[0], "kl")[-1] / 2


def test_the_kl_budget_ends_a_run_before_it_is_exceeded(world: Path) -> None:
    recipe = write_recipe(world, "budget.toml", episodes=640, beta=0.0, kl_budget=0.5)
    outcome, told = run(recipe, world / "budget")
    assert any("beyond the budget of 0.5" in line for line in told)
    assert 0 < outcome.best_step < 20
    assert outcome.after["kl"] <= 0.5
    assert all(kl <= 0.5 for kl in curve(world / "budget", "kl")[: outcome.best_step])


def test_weights_beyond_the_kl_budget_are_kept_in_no_case(world: Path) -> None:
    recipe = write_recipe(world, "away.toml", episodes=640, learning_rate=1e-9, kl_budget=0.5)
    out = world / "away"

    def interrupt(line: str) -> None:
        if line.startswith("iteration 4 of"):
            raise KeyboardInterrupt

    made = Run(recipe=recipe, out=out, cache=world / "cache", command="citewell train answers")
    with pytest.raises(KeyboardInterrupt):
        train(made, interrupt, share_of_letter)
    for name in ("trained.safetensors", "average.safetensors"):
        for file in (out / "checkpoints").glob(f"checkpoint-[1-9]/{name}"):
            weights = load_file(file)
            save_file({k: v + 3.0 if "lora_B" in k else v for k, v in weights.items()}, file)

    outcome, told = run(recipe, out)

    assert any("beyond the budget of 0.5" in line for line in told)
    assert outcome.best_step == 0
    assert outcome.after["kl"] <= 0.5


def test_it_stops_where_the_dev_answers_gain_nothing(world: Path) -> None:
    training = "[training]\nthreads = 1\nema = 0.5\neval_every = 1\npatience = 2\n"
    recipe = write_recipe(world, "patient.toml", training, episodes=3200, learning_rate=1e-9)
    outcome, told = run(recipe, world / "patient")
    assert outcome.steps < 10
    assert any("no gain in 2 evaluations" in line for line in told)


async def test_the_adapter_answers_as_its_start_is_prompted(
    learned: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    out = learned[0]
    assert read_defaults(out) == read_defaults(world / "start")
    generator = load_local(GeneratorSettings(name=str(out)), world / "cache", threads=1)
    references = (Reference(1, "", "", "amber is red", 0.0),)
    text = "".join([token.text async for token in generator.generate("what is amber?", references, 1)])
    assert set(text) <= set("aeio")
    assert text
    names = load_file(out / "adapter_model.safetensors")
    assert names
    assert not any(".value." in name or ".reference." in name for name in names)
    assert not (out / "checkpoints").exists()
    assert not (out / "value").exists()


def test_the_card_names_what_it_was_trained_from_and_against(
    learned: tuple[Path, RunResult, list[str]],
) -> None:
    out, outcome, _ = learned
    card = (out / "README.md").read_text()
    record = json.loads((out / "training.json").read_text())
    start = next(file for file in record["data"] if file["use"] == "start")
    assert start["sha256"] in card
    assert "from start by PPO" in card
    assert "KL penalty: 0" in card
    assert "(PPO-ptx): 0" in card
    assert f"{outcome.after['kl']:.2f} nats" in card
    assert "Iterations: 8 of 8" in card
    assert str(out.parent) not in card
    assert (out / "training.png").read_bytes().startswith(b"\x89PNG")


def test_a_loss_that_is_not_finite_ends_the_run(world: Path) -> None:
    training = "[training]\nthreads = 1\nclip = 1e30\n"
    recipe = write_recipe(world, "nan.toml", training, learning_rate=1e30)
    with pytest.raises(TrainingError, match=r"The loss of iteration \d+ is "):
        run(recipe, world / "nan")


def test_dev_questions_without_answers_are_refused(world: Path) -> None:
    rows = [json.loads(line) | {"answer": ""} for line in (world / "rows.jsonl").read_text().splitlines()]
    (world / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = write_recipe(world, "bare.toml")
    recipe.write_text(recipe.read_text().replace("rows.jsonl", "bare.jsonl"))
    with pytest.raises(InputError, match="No dev question has an answer"):
        run(recipe, world / "bare")
