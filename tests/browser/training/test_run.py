"""A whole run with a tiny model: it learns commands, browses meanwhile, and writes what others can read."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

from browser.environment import Browser
from browser.episode import Episode, Step, write_episodes
from browser.kept import read_limits
from browser.limits import BrowserLimits
from browser.training.run import Run, train
from browser.web import Web
from core.errors import InputError, ModelError
from generator.manner import read_manner
from generator.training.fit import Outcome
from tests.browser.schools import School
from tests.generator.training.made_up import write_llama

RECIPE = """
[model]
base = "llama"
[model.lora]
rank = 4
[browser]
actions = 6
state_tokens = 600
window_lines = 3
[[data]]
name = "made-up"
files = ["demonstrations.jsonl"]
licence = "CC0"
held_out = 3
most = {{ search = 8 }}
[reward]
questions = "questions.jsonl"
episodes = 2
actions = 2
command_tokens = 16
[training]
epochs = 8
batch = 4
learning_rate = 0.01
eval_every = 6
log_every = 1
ema = 0.5
threads = 1
{more}
"""


@asynccontextmanager
async def open_web() -> AsyncGenerator[Web, None]:
    yield School()


def demonstrations() -> list[Episode]:
    """Blank states, in which the end is all that is ever asked for; the last episode was not rewarded."""
    episodes = []
    for number in range(12):
        question = f"what is {number}"
        steps = (
            Step(f"♦Question\n{question}\n♦Next action\n", f"Search {number}", "search"),
            Step(f"♦Question\n{question}\n♦Title\n♦Next action\n", "End: Answer", "end"),
            Step(f"♦Question\n{question}\n♦Next action\n", "fly", "invalid"),
        )
        episodes.append(
            Episode(str(number), question, "made up", steps, (), "Answer", reward=float(number < 11))
        )
    return episodes


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_llama(folder / "llama")
    write_episodes(demonstrations(), folder / "demonstrations.jsonl")
    questions = [{"question": f"who is {n}", "answers": ["nobody"], "origin": "test"} for n in range(3)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    return folder


def recipe(folder: Path, more: str = "", name: str = "recipe.toml") -> Path:
    file = folder / name
    text = RECIPE.format(more=more).replace('"llama"', json.dumps(str(folder / "llama")))
    file.write_text(text, encoding="utf-8")
    return file


def run(file: Path, out: Path, *, resume: bool = False) -> tuple[Outcome, list[str]]:
    told: list[str] = []
    job = Run(file, out, file.parent / "cache", "citewell train policy", open_web, resume)
    return train(job, told.append), told


@pytest.fixture(scope="module")
def trained(world: Path) -> tuple[Path, Outcome, list[str]]:
    return world / "out", *run(recipe(world), world / "out")


def test_commands_are_learnt(trained: tuple[Path, Outcome, list[str]]) -> None:
    _, outcome, told = trained
    assert outcome.after["command_loss"] < 0.95 * outcome.before["command_loss"]
    assert {"reward", "valid", "score"} <= outcome.after.keys()
    assert "made-up: 11 of 12 episodes have reward enough" in told
    assert "made-up: 8 search, 8 end" in told


def test_the_folder_says_how_to_browse(trained: tuple[Path, Outcome, list[str]]) -> None:
    folder, _, _ = trained
    assert read_limits(folder) == BrowserLimits(actions=6, state_tokens=600, window_lines=3)
    assert read_manner(folder).frequency_penalty == 0
    names = {path.name for path in folder.iterdir()}
    assert {"adapter_model.safetensors", "policy.json", "README.md", "training.png", "run.json"} <= names
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "made-up" in card
    assert "questions of made-up" in card
    assert json.loads((folder / "training.json").read_text())["pairs"] == {"made-up": 16}


def test_a_browser_with_the_kept_limits_shows_states_within_them(
    trained: tuple[Path, Outcome, list[str]],
) -> None:
    browser = Browser(School(), read_limits(trained[0]))
    assert browser.limits.window_lines == 3


def test_a_finished_run_is_not_overwritten(world: Path, trained: tuple[Path, Outcome, list[str]]) -> None:
    with pytest.raises(InputError, match="holds a trained model already"):
        run(recipe(world), trained[0])


def test_without_a_reward_the_loss_chooses(world: Path) -> None:
    text = recipe(world, "steps = 6\nchoose_by = 'command_loss'").read_text(encoding="utf-8")
    start, end = text.index("[reward]"), text.index("[training]")
    file = world / "loss.toml"
    file.write_text(text[:start] + text[end:], encoding="utf-8")
    outcome, _ = run(file, world / "loss")
    assert set(outcome.after) == {"command_loss"}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("held_out = 3", "held_out = 99", "no demonstration to learn from"),
        ("held_out = 3", "held_out = 0", "add held_out"),
        ("epochs = 8", "epoch = 8", "there is no key training.epoch"),
        ("questions.jsonl", "recipe.toml", "holds no questions"),
        ("demonstrations.jsonl", "questions.jsonl", "is no episode"),
    ],
)
def test_bad_recipes_are_refused(world: Path, before: str, after: str, message: str) -> None:
    text = recipe(world).read_text(encoding="utf-8")
    assert before in text
    file = world / "bad.toml"
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(file, world / "bad")


def test_a_folder_without_limits_holds_no_policy(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no policy"):
        read_limits(tmp_path)
    (tmp_path / "policy.json").write_text('{"actions": "many"}')
    with pytest.raises(ModelError, match="holds no policy"):
        read_limits(tmp_path)
