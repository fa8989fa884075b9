"""Labels of claims with passages that support them or do not."""

from __future__ import annotations

from pathlib import Path

from citewell.core.jsonl import read_lines
from citewell.core.support_labels import SUPPORT
from citewell.core.training.fields import label, text
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
        claim, premise = text(line, value, "claim"), text(line, value, "premise")
        rows.append(LabeledRow(claim, (best_window(premise, claim),), (label(line, value, SUPPORT),)))
    return rows
