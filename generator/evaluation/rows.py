"""The rows that generators are evaluated on: questions with references."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.text import encodable
from citewell.core.types import Reference

_FORM = 'Lines are {"question": "…", "references": [{"text": "…"}, …]}, with answer and claims if known.'


@dataclass(frozen=True)
class EvaluationRow:
    """A question with numbered references, and its answer and claims if known.

    `key` is a hash of the question and the references. `answerable` is False if the references are known to
    contain no answer. `source` is the origin of the question.
    """

    key: str
    line: int
    question: str
    references: tuple[Reference, ...]
    answer: str = ""
    claims: tuple[str, ...] = ()
    answerable: bool = True
    source: str = ""


@dataclass(frozen=True)
class Rows:
    """The rows of a file, and the problems of skipped lines."""

    rows: tuple[EvaluationRow, ...]
    problems: tuple[str, ...]


def read_rows(file: Path, *, limit: int | None = None) -> Rows:
    """Read JSON lines, gzipped or not; `limit` keeps the first rows.

    References are texts, or objects with text, title and url; they are numbered from 1. Invalid and duplicate
    lines are skipped and reported in `problems`. Raises `InputError` if the file cannot be read or has no
    valid row.
    """
    rows: dict[str, EvaluationRow] = {}
    problems: list[str] = []
    for line in read_lines(file, lambda error: problems.append(error.message)):
        try:
            row = _row(line)
            if row.key in rows:
                raise line.error(f"this repeats line {rows[row.key].line:,}.")
            rows[row.key] = row
        except InputError as error:
            problems.append(error.message)
    if not rows:
        first = f" {problems[0]}" if problems else ""
        raise InputError(f"{file} holds no question with references.{first}", _FORM)
    return Rows(tuple(islice(rows.values(), limit)), tuple(problems))


def _row(line: Line) -> EvaluationRow:
    row = line.row()
    question = _text(line, row, "question")
    found = row.get("references")
    if not isinstance(found, list) or not found:
        raise line.error("the references are not a list of texts.", _FORM)
    references = tuple(read_reference(line, number, value) for number, value in enumerate(found, 1))
    claims = row.get("claims") or []
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise line.error("the claims are not a list of texts.", _FORM)
    answerable = row.get("answerable", True)
    if not isinstance(answerable, bool):
        raise line.error("answerable is neither true nor false.", _FORM)
    texts = [question, *(text for reference in references for text in (reference.title, reference.text))]
    return EvaluationRow(
        key=hashlib.sha256("\n\n".join(texts).encode()).hexdigest()[:16],
        line=line.number,
        question=question,
        references=references,
        answer=_text(line, row, "answer") if row.get("answer") else "",
        claims=tuple(encodable(claim) for claim in claims if claim.strip()),
        answerable=answerable,
        source=encodable(str(row.get("source") or "")),
    )


def read_reference(line: Line, number: int, value: Any) -> Reference:
    """Return a reference from a text, or from an object of text, title and url; raise `InputError`."""
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict):
        raise line.error("a reference is neither text nor an object with its text.", _FORM)
    text = _text(line, value, "text")
    url, title = (encodable(str(value.get(key) or "")) for key in ("url", "title"))
    return Reference(number, url, title, text, 0.0)


def _text(line: Line, row: Mapping[str, Any], key: str) -> str:
    text = row.get(key)
    if not isinstance(text, str) or not text.strip():
        raise line.error(f"the {key} is not a text.", _FORM)
    return encodable(text)
