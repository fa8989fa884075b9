"""What converters of claims share: rows with ids made of both texts, and rows that repeat others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.rows import Row, sha1, words

DIGITS = 8  # of an id's 12 in the lists of what was used
SUPPORTED = {True: "supported", False: "not_supported"}
VERDICTS = {"SUPPORTS": "supported", "REFUTES": "refuted"}
"""FEVER's labels."""


def claim_row(source: str, text: str, claim: str, label: str, **more: Any) -> Row:
    """Return the row of a claim and a text."""
    key = sha1(f"{text}\x1f{claim}", 12)
    row = {"id": f"{source}-{key}", "premise": text, "claim": claim, "label": label, "source": source}
    return row | more


def once(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield each row but those that repeat the words of an earlier one."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        key = words(row["premise"]), words(row["claim"])
        if key not in seen:
            seen.add(key)
            yield row


def cells(file: Path) -> Iterator[list[str]]:
    """Yield a file's lines as the cells that tabs separate; quotation marks are part of them."""
    with file.open(encoding="utf-8") as content:
        for line in content:
            yield line.rstrip("\n").split("\t")
