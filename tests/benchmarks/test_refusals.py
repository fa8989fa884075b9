"""What becomes of questions by the probability of a refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.refusals import measured, outcome, questions
from citewell.core.types import Answer, Candidate, Sentence

ROWS: list[dict[str, Any]] = [
    {"answerable": True, "refusal": 0.05, "relevance": 0.9, "outcome": "written", "first_supported": True},
    {"answerable": True, "refusal": 0.05, "relevance": 0.5, "outcome": "written", "first_supported": True},
    {"answerable": True, "refusal": 0.35, "relevance": None, "outcome": "quoted"},
    {"answerable": True, "refusal": 0.01, "relevance": None, "outcome": "none"},
    {"answerable": False, "refusal": 0.6, "relevance": 0.9, "outcome": "written", "first_supported": False},
]
for row in ROWS:
    row["likely"] = None


def test_a_refusal_leaves_neither_text_nor_quotations() -> None:
    assert list(measured(ROWS, refusal=0.3).values()) == ["1", "0", "0", "0"]
    assert list(measured(ROWS, refusal=0.4).values()) == ["1", "1", "0", "0"]
    assert list(measured(ROWS, refusal=1.0).values()) == ["1", "1", "1", "0"]
    assert next(iter(measured(ROWS))) == "answered (4): written"


def test_the_best_quotation_counts_too() -> None:
    def shown(likely: float) -> list[str]:
        rows = [row | {"likely": likely} for row in ROWS]
        return list(measured(rows, refusal=0.3).values())

    assert shown(0.5) == ["0", "0", "0", "0"]
    assert shown(0.9) == ["1", "1", "0", "0"]


def test_what_is_written_and_irrelevant_is_not_shown() -> None:
    assert list(measured(ROWS, refusal=1.0, relevance=0.5).values()) == ["2", "1", "1", "0"]
    assert list(measured(ROWS, refusal=1.0, relevance=0.95).values()) == ["0", "1", "0", "0"]
    assert list(measured(ROWS, refusal=1.0, relevance=0.9).values()) == ["1", "1", "0", "0"]


def test_the_outcome_tells_writing_from_quoting() -> None:
    said = (Sentence("Bats fly.", (1,), 1.0, True),)
    supported, unsupported = ((Candidate((replace(said[0], supported=each),)),) for each in (True, False))
    assert outcome(Answer("Q", "answered", "A", said, (), candidates=supported)) == "written"
    irrelevant = Answer("Q", "no_evidence", "A", (), (), candidates=supported, fallback="irrelevant")
    assert outcome(irrelevant) == "written"
    quoted = Answer("Q", "answered", "A", said, (), candidates=unsupported, fallback="unsupported")
    assert outcome(quoted) == "quoted"
    assert outcome(replace(quoted, candidates=supported)) == "quoted"  # they answer better
    assert outcome(Answer("Q", "no_evidence", "A", (), (), fallback="unsupported")) == "none"


def test_every_collection_has_questions_of_both_kinds() -> None:
    for collection in ("notes", "handbook", "wikispeedia"):
        assert {answerable for _, answerable in questions(collection)} == {True, False}
