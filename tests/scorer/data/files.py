"""Files of rows for the tests of readers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from citewell.scorer.data.config import PAPER, RAW, ReadingConfig, VoteConfig

ALL = ReadingConfig(votes=RAW)


def write(folder: Path, rows: Iterable[Any], name: str = "rows.jsonl") -> Path:
    """A file of JSON lines; rows that are texts are written as they are."""
    file = folder / name
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


def answers(*given: tuple[str, object]) -> list[dict[str, object]]:
    """The answers of a row of votes."""
    return [{"text": text, "score": score} for text, score in given]


def rule(**changes: object) -> VoteConfig:
    """The paper's rule with other numbers."""
    return PAPER.model_copy(update=changes)
