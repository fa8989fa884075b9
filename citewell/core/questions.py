"""Questions with known accepted answers, from files of JSON lines."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.text import encodable

_FORM = 'Lines are {"question": "…", "answers": ["…"]}; "answer" and a single text are read too.'


class AnsweredQuestion(msgspec.Struct, frozen=True):
    """A question with accepted answers."""

    question: str
    answers: tuple[str, ...]

    @property
    def key(self) -> str:
        """The question, which identifies it in its file."""
        return self.question


class _Aliases(msgspec.Struct, frozen=True):
    """The answer of a row of TriviaQA."""

    value: str
    aliases: tuple[str, ...] = ()


_Accepted = str | tuple[str, ...] | _Aliases


class _QuestionLine(msgspec.Struct, frozen=True):
    question: str
    answers: _Accepted = ()
    answer: _Accepted = ()


def read_questions(file: Path, limit: int | None = None) -> tuple[AnsweredQuestion, ...]:
    """Read the first questions of a file of JSON lines, gzipped or not.

    Accepted answers are under `answers` or `answer`: one text, a list, or TriviaQA's object of `value` and
    `aliases`; other keys are ignored. Of a repeated question, only the first line counts. Raises `InputError`
    for a file that cannot be read or has no question, and for an invalid line.
    """
    found: dict[str, AnsweredQuestion] = {}
    for line in islice(read_lines(file), limit):
        question = _question(line)
        found.setdefault(question.question, question)
    if not found:
        raise InputError(f"{file} holds no questions.", _FORM)
    return tuple(found.values())


def _question(line: Line) -> AnsweredQuestion:
    row = line.value(_QuestionLine, "question", _FORM)
    if not row.question.strip():
        raise line.error("the question is empty.", _FORM)
    answers = dict.fromkeys(filter(str.strip, (*_texts(row.answers), *_texts(row.answer))))
    if not answers:
        raise line.error("the question has no accepted answer.", _FORM)
    return AnsweredQuestion(encodable(row.question), tuple(answers))


def _texts(accepted: _Accepted) -> tuple[str, ...]:
    if isinstance(accepted, str):
        return (accepted,)
    return (accepted.value, *accepted.aliases) if isinstance(accepted, _Aliases) else accepted
