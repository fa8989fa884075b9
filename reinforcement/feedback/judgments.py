"""What users judged, as the service exports it: divided into what trains and what is pinned for the gate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.jsonl import read_lines
from citewell.core.splits import Shares, assign_splits
from citewell.core.training.sources import question_key
from citewell.scorer.data.config import HygieneConfig
from citewell.scorer.data.hygiene import Hygiene

EXPORTED = ("feedback.jsonl", "comparisons.jsonl", "rankings.jsonl")
"""The files that a service's judgments are written to."""
JUDGMENTS, QUESTIONS = "judgments.jsonl", "questions.jsonl"
PINNED_JUDGMENTS, PINNED_QUESTIONS = "pinned-judgments.jsonl", "pinned-questions.jsonl"

# A question stays in its part however many are added later.
_PINNED = Shares(dev=0.0, test=0.2)
_NEAR = 0.6

Row = Mapping[str, Any]


class FeedbackCounts(NamedTuple):
    """The questions with references: those to train on, and those that are pinned."""

    questions: int
    pinned: int


class _JudgedAnswer(NamedTuple):
    """An answer with its references, and whether people liked it more than others."""

    text: str
    references: tuple[str, ...]
    liked: bool


@dataclass(frozen=True)
class _Part:
    """The rows of some questions."""

    judgments: Sequence[Row]
    questions: Sequence[Row]


def divide_judgments(exported: Path, folder: Path) -> FeedbackCounts:
    """Divide the exported files in a folder by their questions, and write the parts into `folder`.

    A fifth of the questions, the same ones each time, is pinned: nothing is trained on them, nor on
    questions near them. Rows with personal data are left out. Judgments are written as they are, questions as
    rows of a generator's data: with the references that users saw, and an answer if they liked one.
    """
    rows = list(_clean(_read(exported)))
    names = list(dict.fromkeys(question_key(row["question"]) for row in rows))
    splits = {
        name: assigned.split
        for name, assigned in zip(names, assign_splits(names, _PINNED, _NEAR), strict=True)
    }
    train, pinned = (
        _part([row for row in rows if splits[question_key(row["question"])] == split])
        for split in ("train", "test")
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, written in (
        (JUDGMENTS, train.judgments),
        (QUESTIONS, train.questions),
        (PINNED_JUDGMENTS, pinned.judgments),
        (PINNED_QUESTIONS, pinned.questions),
    ):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written)
        (folder / name).write_text(lines, encoding="utf-8")
    return FeedbackCounts(len(train.questions), len(pinned.questions))


def _read(folder: Path) -> list[dict[str, Any]]:
    rows = [line.row() for name in EXPORTED for line in read_lines(folder / name)]
    return sorted(rows, key=lambda row: str(row.get("created") or ""))


def _clean(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    hygiene = Hygiene(HygieneConfig())
    return (row for row in rows if row.get("question") and hygiene.fault(row) is None)


def _part(rows: Sequence[Row]) -> _Part:
    found: dict[str, list[_JudgedAnswer]] = {}
    asked: dict[str, str] = {}
    for row in rows:
        key = question_key(row["question"])
        asked.setdefault(key, row["question"])
        found.setdefault(key, []).extend(each for each in _rated(row) if each.references)
    questions = [
        {"question": asked[key], "references": list(best.references), "answer": best.text * best.liked}
        for key, answers in found.items()
        if answers
        for best in [max(answers, key=lambda each: each.liked)]
    ]
    return _Part(rows, questions)


def _rated(row: Row) -> Iterator[_JudgedAnswer]:
    """Yield the answers of an exported row."""
    if "thumbs" in row:
        yield _JudgedAnswer(row["answer"], tuple(row["references"]), row["thumbs"] == 1)
    elif "ranks" in row:
        best = min(row["ranks"])
        for text, source, rank in zip(row["answers"], row["sources"], row["ranks"], strict=True):
            yield _JudgedAnswer(text, tuple(source["references"]), rank == best)
    else:
        for place, answer in enumerate(row["answers"]):
            yield _JudgedAnswer(answer["text"], tuple(answer["references"]), row["preferred"] == place)
