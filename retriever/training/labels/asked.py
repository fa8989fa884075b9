"""Questions and passages by ids that hold for any copy of their files, for labels that are kept apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.text import encodable
from citewell.core.training.fields import TitledPassage, listed, optional_text, passages, text
from citewell.core.training.sources import question_key


class TitledText(TitledPassage):
    """A passage with an id."""

    @property
    def id(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of title, line end and text."""
        return hashlib.sha256(f"{self.title}\n{self.text}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the passages that people say answer it, and others that they say do not."""

    id: str
    question: str
    answering: tuple[TitledText, ...]
    others: tuple[TitledText, ...]


class AskedQuestions(NamedTuple):
    """The questions of some files by id, and all their passages by id."""

    questions: dict[str, AskedQuestion]
    passages: dict[str, TitledText]


def read_asked(files: Iterable[Path]) -> AskedQuestions:
    """Read lines of {question, positive, hard_negative?, id?}; their ids default to the question's SHA-256.

    Further candidates may stand in lines of {title, passage}. In lines of {question, domain, sentences}, the
    sentences together are the passage, and the domain is its title. Lines with one id are one question.
    Raises `InputError` for a line of another form, and if no question remains.
    """
    questions: dict[str, AskedQuestion] = {}
    passages: dict[str, TitledText] = {}
    for line in (line for file in files for line in read_lines(file)):
        row = line.row()
        found = AskedQuestion("", "", tuple(_answering(line, row)), tuple(_others(line, row)))
        passages |= {each.id: each for each in (*found.answering, *found.others)}
        if "passage" in row:
            continue
        asked = text(line, row, "question")
        own = row.get("id")
        name = hashlib.sha256(question_key(asked).encode()).hexdigest()[:16] if own is None else str(own)
        before = questions.get(name)
        questions[name] = AskedQuestion(
            name,
            asked,
            (*before.answering, *found.answering) if before else found.answering,
            (*before.others, *found.others) if before else found.others,
        )
    if not questions:
        raise InputError("The files hold no questions.", 'Lines are {"question": "…", "positive": [{…}]}.')
    return AskedQuestions(questions, passages)


def _answering(line: Line, row: Mapping[str, Any]) -> Iterator[TitledText]:
    yield from _passages(line, row, "positive")
    if sentences := listed(line, row, "sentences"):
        found = [each.get("text") if isinstance(each, dict) else None for each in sentences]
        if not all(isinstance(each, str) for each in found):
            raise line.error("a sentence is not an object with its text.", 'Write {"text": "…"}.')
        yield TitledText(optional_text(line, row, "domain"), encodable(" ".join(map(str, found))))


def _others(line: Line, row: Mapping[str, Any]) -> Iterator[TitledText]:
    yield from _passages(line, row, "hard_negative")
    if "passage" in row:
        yield TitledText(optional_text(line, row, "title"), text(line, row, "passage"))


def _passages(line: Line, row: Mapping[str, Any], name: str) -> Iterator[TitledText]:
    return (TitledText(*each) for each in passages(line, row, name))
