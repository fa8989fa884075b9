"""Labels of claims: 1 where the passage supports the claim, 0.4 where it does so in part, else 0."""

from __future__ import annotations

from pathlib import Path

from citewell.core.jsonl import read_lines
from citewell.core.windows import best_window
from citewell.retriever.training.labels.fields import text
from citewell.retriever.training.rows import LabeledRow

SUPPORT = {
    "supported": 1.0,
    "entailment": 1.0,
    "partial": 0.4,
    "not_supported": 0.0,
    "neutral": 0.0,
    "refuted": 0.0,
    "contradiction": 0.0,
}
"""The target of each label in a file of claims."""


def support_rows(file: Path) -> list[LabeledRow]:
    """Read lines of {premise, claim, label}: the claim in place of the question, with one passage.

    The passage is the premise's best window for the claim. Lines whose premise is empty are skipped. Raises
    `InputError` for a line of another form.
    """
    rows = []
    for line in read_lines(file):
        value = line.row()
        if not value.get("premise"):
            continue
        claim, label = text(line, value, "claim"), value.get("label")
        if label not in SUPPORT:
            raise line.error(f"the label {label!r} is not known.", f"Write one of {', '.join(SUPPORT)}.")
        rows.append(LabeledRow(claim, (best_window(text(line, value, "premise"), claim),), (SUPPORT[label],)))
    return rows
