"""Questions for a teacher: how and why first, and none that is evaluated on."""

from __future__ import annotations

from typing import Any

from benchmarks.teacher_questions import chosen, is_explained
from benchmarks.teacher_sources import is_covered
from citewell.bootstrap.overlap import EvaluationQuestion


def row(name: str, question: str) -> dict[str, Any]:
    return {"id": name, "question": question, "references": [], "license": "mine"}


def test_how_and_why_come_first_and_the_sources_take_turns() -> None:
    own = [
        [row("a1", "Who built the bridge of Avignon?"), row("a2", "Why do bees dance in their hive?")],
        [row("b1", "How do volcanoes form under the sea?")],
    ]
    covered = [[row("c1", "What causes an eclipse of the moon?"), row("c2", "Who was the first emperor?")]]
    rows, left_out = chosen((own, covered), [], 0.6)
    assert [each["id"] for each in rows] == ["a2", "b1", "c1", "a1", "c2"]
    assert not left_out
    assert not is_explained("How many moons has Mars?")
    assert not is_explained("How to diagnose Hemorrhoids?")
    assert is_explained("how come the sky is blue")


def test_questions_near_an_evaluation_question_or_an_earlier_one_are_left_out() -> None:
    evaluated = [EvaluationQuestion("reading", "1", "Why do flamingos look so pink today?")]
    questions = [
        row("1", "Why do flamingos look pink?"),
        row("2", "Why do bees dance in their hive?"),
        row("3", "Why would bees dance in the hive?"),
        row("4", "Why?"),
    ]
    rows, left_out = chosen(([questions],), evaluated, 0.6)
    assert len(rows) == 1
    assert rows[0]["id"] in ("2", "3")
    assert left_out == {"evaluation": 1, "repeated": 1, "length": 1}


def test_a_question_is_covered_if_it_names_the_subject_of_an_article() -> None:
    titles = frozenset(("black hole", "roman empire"))
    assert is_covered("Why do black holes evaporate?", titles)
    assert is_covered("how was the Roman Empire governed", titles)
    assert not is_covered("Why is my hole black?", titles)
