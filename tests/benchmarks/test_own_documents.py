"""The benchmark of one's own documents: evidence below a heading, strings of right answers, and shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.own_documents import QUESTIONS, holds, measured, questions, summary
from citewell.core.types import Answer, Reference, Sentence

ROW: dict[str, Any] = {
    "question": "When were the first beans picked?",
    "answerable": True,
    "document": "diary.md",
    "evidence": "## 3 July\n<b>Picked</b> the first beans.",
    "must": ["3 July", "July 3"],
}
HELD = Reference(2, "file:///diary.md", "Diary", "Picked the first beans. Rain.", 0.5)
OTHER = Reference(1, "file:///diary.md", "Diary", "Dug the bed.", 0.6)


def test_a_reference_holds_the_last_line_of_the_evidence_in_the_same_document() -> None:
    assert holds(HELD, ROW)
    assert not holds(OTHER, ROW)
    assert not holds(Reference(1, "file:///b.md", "", HELD.text, 0.5), ROW)


def test_what_became_of_questions_is_counted() -> None:
    right = Answer(
        question=ROW["question"],
        outcome="answered",
        answer="On 3 July. [2]",
        sentences=(),
        references=(OTHER, HELD),
    )
    refused = Answer(
        question="Who?", outcome="no_evidence", answer="No evidence.", sentences=(), references=()
    )
    quoted = replace(refused, quotations=(Sentence("It was on July 3.", (2,), 1.0, True),))
    asked = {"question": "Who ate them?", "answerable": False}
    rows = [measured(ROW, right), measured(ROW, quoted), measured(ROW, refused), measured(asked, refused)]
    assert [row["place"] for row in rows] == [2, None, None, None]
    shares = {name: share["value"] for name, share in summary(rows).items()}
    assert shares == {
        "found @1": 0,
        "found @3": pytest.approx(1 / 3),
        "found @5": pytest.approx(1 / 3),
        "right": pytest.approx(1 / 3),
        "told": pytest.approx(2 / 3),
        "answered": pytest.approx(1 / 3),
        "answered, unanswerable": 0,
    }


def test_all_evidence_stands_in_its_document() -> None:
    for half in ("dev", "held"):
        for row in questions(half):
            if row["answerable"]:
                document = QUESTIONS / "own" / half / "documents" / row["document"]
                assert row["evidence"] in document.read_text(encoding="utf-8")
