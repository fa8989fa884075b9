"""A whole run of PPO in a small web, from a cloned policy to a folder that is opened as one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
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
from citewell.core.training.config import AdapterConfig
from citewell.core.training.run import Run, RunResult
from citewell.generator.resolve import resolve
from citewell.reinforcement.browsing.config import BrowsingRecipe, load_config
from citewell.reinforcement.browsing.episodes import EpisodeWriter
from citewell.reinforcement.browsing.experience import BrowsingExperience, QuestionSource
from citewell.reinforcement.browsing.reward import by_found
from citewell.reinforcement.browsing.run import train
from citewell.reinforcement.networks import build_networks
from citewell.reinforcement.sampler import TorchSampler
from citewell.reinforcement.trainer import PpoTrainer
from citewell.reinforcement.update import PpoUpdate
from tests.browser.schools import relevance
from tests.reinforcement.browsing.made_up import (
    COMMANDS,
    LIMITS,
    QUESTION,
    HeldChoices,
    open_school,
    states,
    write_recipe,
    write_start,
)

LEAVING = "End: Nonsense"
CHOICES = (*COMMANDS, LEAVING)
SOURCE = {"files": ["a.jsonl"], "license": "CC0"}


def run(recipe: Path, out: Path, tell: Any = lambda line: None) -> RunResult:
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train browsing")
    return train(made, tell, open_school, relevance)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    quoting = asyncio.run(states(COMMANDS))
    leaving = asyncio.run(states([*COMMANDS[:2], LEAVING]))
    return write_start(tmp_path_factory.mktemp("world"), quoting, leaving)


@pytest.fixture(scope="module")
def improved(world: Path) -> tuple[Path, RunResult]:
    out = world / "improved"
    return out, run(write_recipe(world), out)


def test_it_learns_to_quote_before_it_ends(world: Path, tmp_path: Path) -> None:
    config = BrowsingRecipe.model_validate(
        {
            "data": [SOURCE | {"name": "a"}],
            "dev": [SOURCE | {"name": "b"}],
            "episodes": {"fewest_actions": 6, "most_actions": 6, "constrained": True},
            "reward": {"kind": "found"},
            "ppo": {
                "batch": 16,
                "episodes": 128,
                "minibatch": 32,
                "learning_rate": 0.003,
                "warmup": 0,
                "kl_budget": None,
            },
            "value": {"network": "head", "learning_rate": 0.01, "warmup": 0},
            "training": {"threads": 1, "eval_every": 100, "part_tokens": 8192},
        }
    )
    source = resolve(str(world / "start"))
    networks = build_networks(source, AdapterConfig(rank=4), tmp_path, own_value=False, seed=0)

    def hold(grammars: Sequence[str]) -> HeldChoices:
        return HeldChoices(networks.tokenizer, CHOICES, len(grammars))

    sampler = TorchSampler(networks.model, {1}, 40, hold)
    writer = EpisodeWriter(
        networks,
        LIMITS,
        config.episodes,
        config.training,
        open_school,
        commands=sampler,
        answers=sampler,
    )
    rate = by_found({QUESTION.question: QUESTION.answers})
    experience = BrowsingExperience(networks, writer, rate, [QuestionSource((QUESTION,))], [QUESTION], config)
    (tmp_path / "checkpoints").mkdir()
    PpoTrainer(
        networks, experience, PpoUpdate(networks, config, None), config, tmp_path, lambda line: None
    ).run()
    lines = map(json.loads, (tmp_path / "training.jsonl").read_text().splitlines())
    course = [line for line in lines if "found" in line]
    assert len(course) == 8
    first, last = course[:2], course[-3:]
    assert _found(last) > _found(first) + 0.3


def _found(course: Sequence[dict[str, float]]) -> float:
    return sum(line["found"] for line in course) / len(course)


def test_the_folder_is_a_policy(improved: tuple[Path, RunResult], world: Path) -> None:
    out, outcome = improved
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
    improved: tuple[Path, RunResult], tmp_path: Path
) -> None:
    settings = Settings(cache_dir=tmp_path)
    async with open_policy(str(improved[0]), settings, relevance=relevance, constrained=False) as opened:
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


def test_no_question_of_a_dev_set_is_trained_on(world: Path) -> None:
    recipe = write_recipe(world, "leaking.toml")
    recipe.write_text(recipe.read_text().replace("dev.jsonl", "questions.jsonl"))
    with pytest.raises(InputError, match="asked has no question that is not in a dev set"):
        run(recipe, world / "leaking")


def test_a_recipe_that_cannot_be(world: Path) -> None:
    recipe = write_recipe(world, "wrong.toml")
    recipe.write_text(recipe.read_text().replace("most_actions = 6", "most_actions = 4"))
    with pytest.raises(InputError, match="fewest_actions is greater than"):
        load_config(recipe)
