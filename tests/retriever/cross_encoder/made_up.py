"""A recipe for the world of `tests.retriever.training.made_up`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_recipe(
    folder: Path, name: str = "reranker.toml", *, start: str = "", rank: int = 8, **changes: Any
) -> Path:
    """A recipe for `write_world`; `changes` are lines of [training]."""
    training = {"batch": 8, "epochs": 4, "learning_rate": 0.01, "eval_every": 8, "log_every": 2} | changes
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in training.items())
    text = f"""
excluded = ["excluded.jsonl"]
[model]
base = {json.dumps(str(folder / "bert"))}
max_tokens = 32
question_tokens = 12
{f"start = {json.dumps(start)}" if start else ""}
[model.lora]
rank = {rank}
[objective]
encoder = {json.dumps(str(folder / "bert"))}
scale = 0.01
[[data]]
name = "made-up"
files = ["rows.jsonl"]
format = "references"
label = "adopted"
license = "CC0"
held_out = 15
[training]
threads = 1
{lines}
"""
    (folder / "excluded.jsonl").write_text('{"question": "AAA  rb"}\n', encoding="utf-8")
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
