"""What becomes of questions by the probability of a refusal."""

from __future__ import annotations

from benchmarks.refusals import measured, outcome, questions
from citewell.core.types import Answer, Sentence

ROWS = [
    {"answerable": True, "refusal": 0.05, "outcome": "written"},
    {"answerable": True, "refusal": 0.35, "outcome": "quoted"},
    {"answerable": True, "refusal": 0.01, "outcome": "none"},
    {"answerable": False, "refusal": 0.6, "outcome": "written"},
]


def test_a_refusal_leaves_neither_text_nor_quotations() -> None:
    assert list(measured(ROWS, 0.3).values()) == ["1", "0", "0", "0"]
    assert list(measured(ROWS, 0.4).values()) == ["1", "1", "0", "0"]
    assert list(measured(ROWS, 1.0).values()) == ["1", "1", "1", "0"]
    assert next(iter(measured(ROWS, 1.0))) == "answered (3): written"


def test_the_outcome_tells_writing_from_quoting() -> None:
    said = (Sentence("Bats fly.", (1,), 1.0, True),)
    assert outcome(Answer("Q", "answered", "A", said, ())) == "written"
    assert outcome(Answer("Q", "answered", "A", said, (), fallback="unsupported")) == "quoted"
    assert outcome(Answer("Q", "no_evidence", "A", (), (), fallback="unsupported")) == "none"


def test_every_collection_has_questions_of_both_kinds() -> None:
    for collection in ("notes", "handbook", "wikispeedia"):
        assert {answerable for _, answerable in questions(collection)} == {True, False}
