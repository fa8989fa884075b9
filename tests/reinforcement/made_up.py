"""A generator that answers any question with some vowels, a reward that is easy to learn, and recipes."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.core.training.run import Run
from citewell.core.types import Reference
from citewell.generator.training.run import train as train_generator
from citewell.reinforcement.reward import RatedAnswer
from tests.generator.training.made_up import rows, write_config, write_llama, write_rows

LETTER = "e"
PPO: dict[str, Any] = {
    "episodes": 96,
    "batch": 32,
    "minibatch": 16,
    "learning_rate": 0.003,
    "warmup": 0,
    "beta": 0.02,
}


def share_of_letter(question: str, references: Sequence[Reference], text: str) -> RatedAnswer:
    """The share of the characters of an answer that are one letter."""
    return RatedAnswer(text.count(LETTER) / max(1, len(text)), {})


def write_start(folder: Path) -> Path:
    """The rows, and a generator that was fine-tuned to write a few vowels, and to end."""
    write_llama(folder / "llama")
    chance = random.Random(0)
    write_rows(folder / "rows.jsonl", [row | {"answer": _vowels(chance)} for row in rows(64)])
    recipe = write_config(folder, "start.toml", epochs=12, generate=0, ema=None, learning_rate=0.01)
    recipe.write_text(recipe.read_text().replace("[model]", '[model]\ntuning = "full"'))
    made = Run(
        recipe=recipe, out=folder / "start", cache=folder / "cache", command="citewell train generator"
    )
    train_generator(made, lambda line: None)
    return folder


def _vowels(chance: random.Random) -> str:
    # Each is mostly followed by itself, so that the model must tell them apart.
    text = chance.choice("aeio")
    for _ in range(3):
        text += text[-1] if chance.random() < 0.8 else chance.choice("aeio")
    return text


def write_recipe(folder: Path, name: str = "ppo.toml", extra: str = "", **changes: Any) -> Path:
    """A recipe; `changes` are lines of [ppo], `extra` further sections, of which [training] may be one."""
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in (PPO | changes).items())
    training = "" if "[training]" in extra else "[training]\nthreads = 1\nema = 0.5\neval_every = 100\n"
    text = f"""
[model]
start = {json.dumps(str(folder / "start"))}
[model.lora]
rank = 4
[prompt]
references = 2
prompt_tokens = 300
answer_tokens = 8
[[data]]
name = "made-up"
files = ["rows.jsonl"]
license = "CC0"
held_out = 8
[reward]
kind = "support"
[ppo]
{lines}
[value]
network = "head"
learning_rate = 0.01
warmup = 0
{training}{extra}
"""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
