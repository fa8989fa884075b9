"""The course of a run: a line of measures for each iteration and each evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

COURSE = "training.jsonl"
DEV = "eval_"
"""Begins the names of measures of dev answers; the others are those of the training answers."""


def write_course(history: Sequence[Mapping[str, float]], folder: Path) -> None:
    """Write the measures so far into the folder of a run."""
    partial = folder / f"{COURSE}.partial"
    partial.write_text("".join(json.dumps(entry) + "\n" for entry in history), encoding="utf-8")
    partial.replace(folder / COURSE)


def read_course(folder: Path, last: int) -> list[dict[str, float]]:
    """Return the measures up to step `last`."""
    lines = map(json.loads, (folder / COURSE).read_text(encoding="utf-8").splitlines())
    return [entry for entry in lines if entry["step"] <= last]
