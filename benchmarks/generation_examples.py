"""Unselected answers of a generator, for people to read.

`python -m benchmarks.generation_examples ANSWERS --generator NAME` prints, as Markdown, the answers to the
questions of an evaluation with the lowest SHA-256, ten by default. ANSWERS is the file `….answers.jsonl` that
`citewell eval generation --json` writes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any


def drawn(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the answers whose question has the lowest SHA-256, a reproducible sample."""
    return sorted(rows, key=lambda row: hashlib.sha256(row["question"].encode()).hexdigest())[:count]


def shown(row: dict[str, Any]) -> str:
    """Return the question, and the answer with its marks after citation correction."""
    sentences = [text + "".join(f"[{mark}]" for mark in marks) for text, marks in row["sentences"]]
    question = " ".join(row["question"].split())
    answer = " ".join(sentences) or f"(No sentence has support. It wrote: {row['raw']})"
    return f"**{question}**\n\n{answer}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--generator", required=True, help="the generator's name in the evaluation")
    parser.add_argument("--count", type=int, default=10)
    arguments = parser.parse_args()
    lines = arguments.answers.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["generator"] == arguments.generator]
    print("\n\n".join(shown(row) for row in drawn(rows, arguments.count)))


if __name__ == "__main__":
    main()
