"""Labels of candidates, such as sentences: 1 for those that answer a question, 0 for others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.text import encoded_text
from citewell.core.training.fields import text
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
        listed, title = value.get("candidates"), value.get("title") or ""
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            raise line.error("the candidates are not a list of objects.")
        found = {encoded_text(title, text(line, each, "text")): each.get("label") for each in listed}
        if not all(label in (0, 1) for label in found.values()):
            raise line.error("a candidate's label is neither 0 nor 1.")
        if len(set(found.values())) > 1:
            targets = tuple(float(label or 0) for label in found.values())
            rows.append(LabeledRow(text(line, value, "question"), tuple(found), targets))
    if not rows:
        raise InputError(f"{file} cannot give the label candidates: no row has candidates of both labels.")
    return rows
