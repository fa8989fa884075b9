"""A whole run of PPO in a small web: a tiny policy learns to quote before it ends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from citewell.browser.limits_file import read_limits
from citewell.browser.policies.opening import open_policy
from citewell.core.errors import InputError, ModelError
from citewell.core.settings import Settings
from citewell.core.training.run import Run, RunResult
from citewell.reinforcement.browsing.config import BrowsingRecipe, load_config
from citewell.reinforcement.browsing.run import train
from tests.browser.schools import relevance
from tests.reinforcement.browsing.made_up import (
    COMMANDS,
    LIMITS,
    open_school,
    states,
    write_recipe,
    write_start,
)


def run(recipe: Path, out: Path, tell: Any = lambda line: None) -> RunResult:
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train browsing")
    return train(made, tell, open_school, relevance)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    quoting = asyncio.run(states(COMMANDS))
    leaving = asyncio.run(states([*COMMANDS[:2], "End: Nonsense"]))
    return write_start(tmp_path_factory.mktemp("world"), quoting, leaving)


@pytest.fixture(scope="module")
def learned(world: Path) -> tuple[Path, RunResult]:
    out = world / "learned"
    return out, run(write_recipe(world, episodes=160), out)


def test_it_learns_to_quote(learned: tuple[Path, RunResult]) -> None:
    out, outcome = learned
    course = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    found = [entry["found"] for entry in course if "found" in entry]
    assert len(found) == outcome.steps == 10
    assert 0.1 < found[0] < 0.8
    assert sum(found[-3:]) / 3 > found[0] + 0.2


def test_the_folder_is_a_policy(learned: tuple[Path, RunResult], world: Path) -> None:
    out, outcome = learned
    assert read_limits(out) == read_limits(world / "start") == LIMITS
    card = (out / "README.md").read_text()
    assert "from start by PPO" in card
    assert f"{outcome.after['kl']:.2f} nats per episode" in card
    assert "`found`" in card
    start = next(
        file for file in json.loads((out / "training.json").read_text())["data"] if file["use"] == "start"
    )
    assert start["sha256"] in card
    names = load_file(out / "adapter_model.safetensors")
    assert not any(".value." in name or ".reference." in name for name in names)


async def test_it_is_opened_with_the_limits_of_its_training(
    learned: tuple[Path, RunResult], tmp_path: Path
) -> None:
    settings = Settings(cache_dir=tmp_path)
    async with open_policy(str(learned[0]), settings, relevance=relevance, constrained=False) as opened:
        assert opened.limits == LIMITS


def test_answers_are_rewarded_and_trained_too(world: Path) -> None:
    recipe = write_recipe(world, "answers.toml", "support", episodes=8, batch=8)
    outcome = run(recipe, world / "answers")
    assert outcome.steps == 1
    assert {"score", "kl", "found", "quotes", "actions", "valid"} <= outcome.after.keys()


def test_commands_are_held_to_what_is_valid(world: Path) -> None:
    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    recipe = write_recipe(world, "held.toml", episodes=8, batch=8)
    recipe.write_text(recipe.read_text().replace("[episodes]", "[episodes]\nconstrained = true"))
    assert run(recipe, world / "held").before["valid"] > 0.9


def test_a_generator_is_no_policy(world: Path) -> None:
    recipe = write_recipe(world, "generator.toml")
    recipe.write_text(recipe.read_text().replace(str(world / "start"), str(world / "llama")))
    with pytest.raises(ModelError, match="holds no policy of the text browser"):
        run(recipe, world / "none")


def test_the_defaults_are_those_of_webgpt() -> None:
    source = {"files": ["a.jsonl"], "license": "CC0"}
    config = BrowsingRecipe.model_validate(
        {"data": [source | {"name": "a"}], "dev": [source | {"name": "b"}]}
    )
    episodes, ppo = config.episodes, config.ppo
    assert (episodes.fewest_actions, episodes.most_actions, episodes.answer_phases) == (20, 100, 16)
    assert (episodes.chunk_tokens, ppo.beta, ppo.clip, ppo.gae_lambda) == (64, 0.02, 0.2, 0.95)
    assert (ppo.batch, ppo.inner_epochs, ppo.kl_budget) == (256, 1, 10.5)


def test_a_recipe_that_cannot_be(world: Path) -> None:
    recipe = write_recipe(world, "wrong.toml")
    recipe.write_text(recipe.read_text().replace("most_actions = 6", "most_actions = 4"))
    with pytest.raises(InputError, match="fewest_actions is greater than"):
        load_config(recipe)
