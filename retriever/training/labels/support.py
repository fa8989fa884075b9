"""Labels of claims with passages that support them or do not."""

from __future__ import annotations

from pathlib import Path

from citewell.core.jsonl import read_lines
from citewell.core.support_labels import SUPPORT
from citewell.core.training.fields import text
from citewell.core.windows import best_window
from citewell.retriever.training.rows import LabeledRow


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
