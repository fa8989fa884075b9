"""Labels from citations: the references that a language model adopted in its answer (WebGLM §3.1.2)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.marks import MARK
from citewell.core.training.fields import passage, text
from citewell.retriever.training.rows import LabeledRow


def adopted_rows(file: Path) -> list[LabeledRow]:
    """Read lines of {question, answer, references}; a cited reference has the label 1, any other 0.

    Marks are `[1]` and `[1, 2]`; they count references from 1, or name the `n` of a reference that has one.
    Rows that cite none or all of their references do not rank them, and are skipped. Raises `InputError` for
    a line of another form, and if no row remains.
    """
    rows = []
    for line in read_lines(file):
        value = line.row()
        references = value.get("references")
        if not isinstance(references, list):
            raise line.error("the references are not a list.")
        cited = _cited(text(line, value, "answer"))
        kept = [
            (_number(reference, place), passage(line, reference).encoded)
            for place, reference in enumerate(references, 1)
        ]
        targets = tuple(float(number in cited) for number, _ in kept)
        if len(set(targets)) > 1:
            rows.append(LabeledRow(text(line, value, "question"), tuple(found for _, found in kept), targets))
    if not rows:
        raise InputError(
            f"{file} cannot give the label adopted: no answer cites some of its references and not others.",
            "Citations are marks such as [1] in the answer; the label rouge needs none.",
        )
    return rows


def _number(reference: Any, place: int) -> int:
    number = reference.get("n") if isinstance(reference, dict) else None
    return number if isinstance(number, int) else place


def _cited(answer: str) -> set[int]:
    return {int(number) for mark in MARK.findall(answer) for number in re.findall(r"\d+", mark)}
