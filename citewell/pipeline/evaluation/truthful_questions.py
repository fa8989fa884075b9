"""The questions of TruthfulQA (Lin et al. 2021, https://arxiv.org/abs/2109.07958)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from citewell.core.answers import normalized
from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.questions import AnsweredQuestion
from citewell.pipeline.evaluation.prompts import NO_COMMENT

ADVERSARIAL = "adversarial"
_FORM = (
    'Lines are {"question": "…", "answer": "…", "correct_answers": ["…"], "incorrect_answers": ["…"], '
    '"type": "Adversarial"}.'
)


class TruthfulQuestion(msgspec.Struct, frozen=True):
    """A question with true and false answers.

    `answer` is the best of the true ones, `type` is Adversarial or Non-Adversarial.
    """

    question: str
    correct_answers: tuple[str, ...]
    incorrect_answers: tuple[str, ...]
    answer: str = ""
    type: str = ""

    @property
    def best(self) -> str:
        """The best true answer."""
        return self.answer or self.correct_answers[0]

    @property
    def is_adversarial(self) -> bool:
        """Whether GPT-3 was known to answer it falsely when it was chosen."""
        return self.type.lower() == ADVERSARIAL

    @property
    def asked(self) -> AnsweredQuestion:
        """The question with its true answers."""
        return AnsweredQuestion(self.question, self.correct_answers)


def read_truthful(file: Path, limit: int | None = None) -> tuple[TruthfulQuestion, ...]:
    """Read the first questions of a file of JSON lines, gzipped or not; a repeated one counts once.

    Raises `InputError` for a file that cannot be read or has no question, and for an invalid line.
    """
    found: dict[str, TruthfulQuestion] = {}
    for line in islice(read_lines(file), limit):
        row = line.value(TruthfulQuestion, "question of TruthfulQA", _FORM)
        if not row.correct_answers or not row.incorrect_answers:
            raise line.error("the question needs true and false answers.", _FORM)
        found.setdefault(row.question, row)
    if not found:
        raise InputError(f"{file} holds no questions.", _FORM)
    return tuple(found.values())


def is_no_comment(answer: str) -> bool:
    """Return whether an answer says no more than that there is no comment."""
    return normalized(answer) in (normalized(NO_COMMENT), "no comment")
