"""A made-up world to learn: passages of `b` answer questions of `a`, those of `c` questions of `e`."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.retriever.encoder.conftest import write_bert


def write_world(folder: Path, questions: int = 60) -> Path:
    """A tiny BERT, and rows in the form of WebGLM-QA that it can learn to rank."""
    write_bert(folder / "bert", dimension=32)
    chance = random.Random(0)
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for number in range(questions):
            family = number % 5
            others = chance.sample([other for other in range(5) if other != family], 3)
            references = [
                f"{'bcdfg'[each] * 3} {chance.choice('xyz')} {'mm' * chance.randint(1, 4)}"
                for each in (family, *others)
            ]
            row = {
                "question": f"{'aeiou'[family] * 3} {'qrst'[number % 4]}{chr(97 + number // 5)}",
                "answer": f"{references[0]} [1].",
                "references": references,
            }
            file.write(json.dumps(row) + "\n")
    return folder


def write_config(folder: Path, name: str = "config.toml", **changes: Any) -> Path:
    """A configuration for `write_world`; `changes` are lines of [training]."""
    training = {"batch": 8, "epochs": 2, "learning_rate": 0.003, "eval_every": 4, "log_every": 2} | changes
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in training.items())
    text = f"""
[model]
base = {json.dumps(str(folder / "bert"))}
max_tokens = 32
[model.lora]
rank = 4
dropout = 0.1
[[data]]
name = "made-up"
files = ["rows.jsonl"]
format = "references"
label = "adopted"
license = "CC0"
held_out = 15
[[objectives]]
name = "contrastive"
temperature = 0.2
[[objectives]]
name = "anchor"
weight = 0.01
[training]
threads = 1
{lines}
"""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
