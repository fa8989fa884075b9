"""A tiny model, demonstrations and a recipe for a policy, all made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from citewell.browser.episode import Episode, Step, write_episodes
from citewell.browser.limits import BrowserLimits
from citewell.browser.limits_file import write_limits
from tests.generator.training.made_up import write_llama

LIMITS = BrowserLimits(actions=6, state_tokens=600, window_lines=3)

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
license = "CC0"
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


def write_world(folder: Path) -> Path:
    """The model, the demonstrations, and questions that nothing answers."""
    write_llama(folder / "llama")
    write_episodes(demonstrations(), folder / "demonstrations.jsonl")
    questions = [{"question": f"who is {n}", "answers": ["nobody"], "origin": "test"} for n in range(3)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    return folder


def write_recipe(folder: Path, more: str = "", name: str = "recipe.toml") -> Path:
    """A recipe for `write_world`; `more` are lines of [training]."""
    file = folder / name
    text = RECIPE.format(more=more).replace('"llama"', json.dumps(str(folder / "llama")))
    file.write_text(text, encoding="utf-8")
    return file


def write_policy(folder: Path) -> Path:
    """A policy that learned nothing: the model with an adapter that changes nothing, and `LIMITS`."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base: Any = AutoModelForCausalLM.from_pretrained(write_llama(folder.with_name("llama")))
    get_peft_model(base, LoraConfig(r=4, task_type="CAUSAL_LM")).save_pretrained(str(folder))
    write_limits(LIMITS, folder)
    return folder
