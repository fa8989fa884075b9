"""Labels of 1 for passages that answer a question, and of 0 for passages known not to answer it."""

from __future__ import annotations

from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.training.fields import passages, text, texts
from citewell.core.training.sources import question_key
from citewell.retriever.training.rows import LabeledRow


def positive_rows(file: Path, *, unanswered: bool = False) -> list[LabeledRow]:
    """Read lines of {question, positive, hard_negative?, answer?}; rows of one question become one row.

    `positive` and `hard_negative` are lists of passages, objects of title and text. Rows without a positive
    are skipped, because their hard negatives have no better passage, unless `unanswered` keeps them. Raises
    `InputError` for a line of another form, and if no row with a positive remains.
    """
    merged: dict[str, _Merged] = {}
    for line in read_lines(file):
        value = line.row()
        question = text(line, value, "question")
        row = merged.setdefault(question_key(question), _Merged(question))
        row.add(
            [each.encoded for each in passages(line, value, "positive")],
            [each.encoded for each in passages(line, value, "hard_negative")],
            texts(line, value, "answer"),
        )
    rows = [row.row() for row in merged.values() if row.positives or (unanswered and row.negatives)]
    if not any(row.positives for row in merged.values()):
        raise InputError(
            f"{file} cannot give the label positives: no row has a positive.",
            'Lines are {"question": "…", "positive": [{"title": "…", "text": "…"}]}.',
        )
    return rows


class _Merged:
    """The merged lines of one question; a repeated passage counts once."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.positives: dict[str, str] = {}
        self.negatives: dict[str, str] = {}
        self.answers: dict[str, None] = {}

    def add(self, positives: list[str], negatives: list[str], answers: list[str]) -> None:
        for found, kept in ((positives, self.positives), (negatives, self.negatives)):
            for each in found:
                kept.setdefault(question_key(each), each)
        self.answers.update(dict.fromkeys(answers))

    def row(self) -> LabeledRow:
        negatives = [each for name, each in self.negatives.items() if name not in self.positives]
        targets = (1.0,) * len(self.positives) + (0.0,) * len(negatives)
        return LabeledRow(self.question, (*self.positives.values(), *negatives), targets, tuple(self.answers))
