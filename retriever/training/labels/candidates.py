"""Labels of candidates, such as sentences: 1 for those that answer a question, 0 for others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.text import encoded_text
from citewell.core.training.fields import candidates, optional_text, text
from citewell.retriever.training.rows import LabeledRow


def candidate_rows(file: Path, without: Mapping[str, str]) -> list[LabeledRow]:
    """Read lines of {question, title?, candidates}; a candidate is {text, label}.

    Lines with a field and value of `without` are skipped, and so are those whose labels are all equal. Raises
    `InputError` for a line of another form, and if no row remains.
    """
    rows = []
    for line in read_lines(file):
        value = line.row()
        if any(value.get(name) == skipped for name, skipped in without.items()):
            continue
        title = optional_text(line, value, "title")
        found = {encoded_text(title, each): float(label) for each, label in candidates(line, value)}
        if len(set(found.values())) > 1:
            rows.append(LabeledRow(text(line, value, "question"), tuple(found), tuple(found.values())))
    if not rows:
        raise InputError(f"{file} cannot give the label candidates: no row has candidates of both labels.")
    return rows
