"""A place in a file: checks and cleans its values, and records its problems."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.core.marks import unmarked_answer
from citewell.core.text import encodable, shorten, squeeze
from citewell.scorer.data.config import ReadingConfig
from citewell.scorer.data.notes import FileNotes

_TOO_MUCH = 1e15  # for votes; NaN is not less either
_GONE = {"[deleted]", "[removed]"}


def group_of(question: str) -> str:
    """Return the key of a question, which ignores case and white space."""
    return hashlib.sha256(squeeze(question).casefold().encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SourceLine:
    """A line of the source `source`, or a post of a dump."""

    where: str
    source: str
    notes: FileNotes
    config: ReadingConfig

    def problem(self, kind: str, what: str) -> None:
        """Record a problem at this place."""
        self.notes.problem(self.where, kind, what)

    def text(self, value: object, name: str) -> str | None:
        """Return a value's text, with invalid characters removed and cut to the maximum, or None."""
        if not isinstance(value, str):
            self.problem("no_text", f"{name} is not text.")
            return None
        text = _valid(value)
        if not text or text in _GONE:
            self.problem("empty", f"{name} is {'deleted' if text else 'empty'}.")
            return None
        most = self.config.most_chars
        if len(text) > most:
            self.problem("long", f"{name} has {len(text):,} characters, and is cut at {most:,}.")
        return text[:most].rstrip()

    def answer(self, value: object, name: str, references: Sequence[str] = ()) -> str | None:
        """Return the text of an answer, without the marks by which it cites its references.

        Scorers read candidates without marks.
        """
        text = self.text(value, name)
        return unmarked_answer(text).strip() if text is not None and references else text

    def question(self, row: Mapping[str, Any]) -> str | None:
        """Return the question of a row, or its title, an empty line and the start of its body."""
        title = next((row[key] for key in ("question", "title", "prompt") if row.get(key)), None)
        text = self.text(title, "the question")
        body = row.get("body") or row.get("selftext")
        body = _valid(body) if isinstance(body, str) else ""
        if text is None or not body or body in _GONE or body in text or not self.config.body_chars:
            return text
        return f"{text}\n\n{shorten(body, self.config.body_chars)}"

    def number(self, value: object, name: str) -> float | None:
        """Return the number, if it is finite and within the range of votes; None otherwise."""
        if value is None:
            self.problem("no_number", f"{name} is missing.")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _TOO_MUCH:
            self.problem("no_number", f"{name} is {str(value)[:40]}, which is not a usable number.")
        else:
            return float(value)
        return None

    def stated(self, row: Mapping[str, Any], name: str) -> str:
        """Return what a row says about itself in the field `name`, such as its license, or nothing."""
        return _valid(str(row.get(name) or ""))

    def references(self, row: Mapping[str, Any], key: str = "references") -> tuple[str, ...]:
        """Return the texts of a row's references, each of which is a text or an object with `text`."""
        values = row.get(key) or []
        if not isinstance(values, list):
            self.problem("no_references", f"{key} is not a list.")
            return ()
        texts = (value.get("text") if isinstance(value, dict) else value for value in values)
        found = (self.text(text, f"reference {number}") for number, text in enumerate(texts, 1))
        return tuple(text for text in found if text is not None)


def _valid(text: str) -> str:
    """Return a text without invalid characters, and without white space around it."""
    return encodable(text).replace("\0", "").strip()
