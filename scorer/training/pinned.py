"""The pinned test: comparisons that are kept with a scorer, and that test its successors."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path

from citewell.core.errors import ModelError
from citewell.core.jsonl import read_lines
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.types import Comparison
from citewell.scorer.form import Form

PINNED = "pinned.jsonl.gz"


def choose_pinned(comparisons: Sequence[Comparison], count: int, seed: int) -> list[Comparison]:
    """Draw at most `count` of the comparisons by the seed, without ties."""
    decided = [each for each in comparisons if each.preference != 0.5]
    chance = random.Random(f"{seed} pinned")  # noqa: S311
    drawn = chance.sample(range(len(decided)), min(count, len(decided)))
    return [decided[place] for place in sorted(drawn)]


def write_pinned(comparisons: Sequence[Comparison], folder: Path) -> str:
    """Write the test into a scorer's folder; return the SHA-256 of its text, or nothing without a test."""
    if not comparisons:
        return ""
    text = "".join(json.dumps(_row(each), ensure_ascii=False) + "\n" for each in comparisons).encode()
    with (folder / PINNED).open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(text)
    return hashlib.sha256(text).hexdigest()


def read_pinned(folder: Path, form: Form) -> list[Comparison]:
    """Read the test in a scorer's folder, empty if it has none; raises `ModelError` if it was changed."""
    if not form.pinned:
        return []
    file = folder / PINNED
    text = "".join(f"{line.text}\n" for line in read_lines(file)).encode()
    if hashlib.sha256(text).hexdigest() != form.pinned:
        raise ModelError(f"{file} is not the test that the scorer was pinned to.", "Copy the scorer again.")
    return list(read_comparisons(file).comparisons)


def _row(comparison: Comparison) -> dict[str, object]:
    """Return the row in the format of users' choices, so that `citewell eval scorer` reads the file too."""
    answers = zip((comparison.first, comparison.second), comparison.both_references, strict=True)
    return {
        "question": comparison.question,
        "answers": [{"text": text, "references": list(references)} for text, references in answers],
        "preferred": int(comparison.preference < 0.5),
    }
