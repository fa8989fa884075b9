"""A whole run with a tiny model: it learns commands, browses meanwhile, and writes what others can read."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

from citewell.browser.environment import Browser
from citewell.browser.episodes import Question, finished
from citewell.browser.limits_file import read_limits
from citewell.browser.policies.opening import open_policy
from citewell.browser.training.run import train
from citewell.browser.web import Web
from citewell.core.errors import InputError, ModelError
from citewell.core.settings import Settings
from citewell.core.training.run import Run, RunResult
from citewell.generator.defaults import read_defaults
from tests.browser.schools import School, relevance
from tests.browser.training.made_up import LIMITS, write_recipe, write_world


@asynccontextmanager
async def open_web() -> AsyncGenerator[Web, None]:
    yield School()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


def run(recipe: Path, out: Path) -> tuple[RunResult, list[str]]:
    told: list[str] = []
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train policy")
    return train(made, told.append, open_web), told


@pytest.fixture(scope="module")
def trained(world: Path) -> tuple[Path, RunResult, list[str]]:
    return world / "out", *run(write_recipe(world), world / "out")


def test_commands_are_learned(trained: tuple[Path, RunResult, list[str]]) -> None:
    _, outcome, told = trained
    assert outcome.after["command_loss"] < 0.95 * outcome.before["command_loss"]
    assert {"reward", "valid", "score"} <= outcome.after.keys()
    assert "made-up: 11 of 12 episodes have enough reward" in told
    assert "made-up: 8 search, 8 end" in told


def test_the_folder_says_how_to_browse(trained: tuple[Path, RunResult, list[str]]) -> None:
    folder, _, _ = trained
    assert read_limits(folder) == LIMITS
    assert read_defaults(folder).frequency_penalty == 0
    names = {path.name for path in folder.iterdir()}
    assert {"adapter_model.safetensors", "policy.json", "README.md", "training.png", "run.json"} <= names
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "made-up" in card
    assert "questions of made-up" in card
    assert json.loads((folder / "training.json").read_text())["pairs"] == {"made-up": 16}


def test_a_browser_with_the_kept_limits_shows_states_within_them(
    trained: tuple[Path, RunResult, list[str]],
) -> None:
    browser = Browser(School(), read_limits(trained[0]))
    assert browser.limits.window_lines == 3


async def test_the_folder_is_opened_as_a_policy_with_its_limits(
    trained: tuple[Path, RunResult, list[str]],
) -> None:
    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    async with open_policy(str(trained[0]), Settings(), relevance=relevance) as opened:
        assert opened.limits == LIMITS
        assert opened.count("♦") == len("♦".encode()), "the model's own tokenizer counts"
        browser = Browser(School(), opened.limits, opened.count)
        episode = await finished(browser, opened.policy, Question("what is rain", actions=4))
    assert episode.policy == str(trained[0])
    assert episode.steps
    assert all(step.kind != "invalid" for step in episode.steps)
    assert all(len(step.state.encode()) <= LIMITS.state_tokens for step in episode.steps)
    assert all(0 < step.tokens <= 2 * 96 for step in episode.steps)


def test_a_finished_run_is_not_overwritten(world: Path, trained: tuple[Path, RunResult, list[str]]) -> None:
    with pytest.raises(InputError, match="holds a trained model already"):
        run(write_recipe(world), trained[0])


def test_without_a_reward_the_loss_chooses(world: Path) -> None:
    text = write_recipe(world, "steps = 6\nchoose_by = 'command_loss'").read_text(encoding="utf-8")
    start, end = text.index("[reward]"), text.index("[training]")
    file = world / "loss.toml"
    file.write_text(text[:start] + text[end:], encoding="utf-8")
    outcome, _ = run(file, world / "loss")
    assert set(outcome.after) == {"command_loss"}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("held_out = 3", "held_out = 99", "no training demonstration"),
        ("held_out = 3", "held_out = 0", "add held_out"),
        ("epochs = 8", "epoch = 8", "there is no key training.epoch"),
        ("questions.jsonl", "recipe.toml", "not a valid question"),
        ("demonstrations.jsonl", "questions.jsonl", "not a valid episode"),
    ],
)
def test_bad_recipes_are_refused(world: Path, before: str, after: str, message: str) -> None:
    text = write_recipe(world).read_text(encoding="utf-8")
    assert before in text
    file = world / "bad.toml"
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(file, world / "bad")


def test_a_folder_without_limits_holds_no_policy(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no policy"):
        read_limits(tmp_path)
    for damaged in (b'{"actions": "many"}', b'{"window_lines": 1}', b'{"actions": 6', b"\xff", b""):
        (tmp_path / "policy.json").write_bytes(damaged)
        with pytest.raises(ModelError, match=r"holds no policy.*policy\.json cannot be read"):
            read_limits(tmp_path)
