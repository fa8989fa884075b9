"""The measures of answers on rows made by hand."""

from __future__ import annotations

import json

import pytest

from citewell.core.questions import AnsweredQuestion
from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.pipeline.evaluation import accuracy
from citewell.pipeline.evaluation.report import AnswerEvaluation, details, markdown, summary
from citewell.pipeline.evaluation.systems import AnswerSystem, Arm, read_system

ASKED = [
    AnsweredQuestion("who wrote hamlet", ("William Shakespeare", "Shakespeare")),
    AnsweredQuestion("capital of france", ("Paris",)),
    AnsweredQuestion("largest planet", ("Jupiter",)),
    AnsweredQuestion("year of the moon landing", ("1969",)),
]
PLAY = Reference(1, "u", "Hamlet", "Hamlet is a play by William Shakespeare.", 0.0)
FRANCE = Reference(1, "v", "France", "Paris is the capital. Lyon is a city.", 0.0)
PLANETS = Reference(1, "w", "Planets", "Jupiter is the largest planet.", 0.0)
WRITTEN = {
    "who wrote hamlet": GeneratedAnswer(
        "", (MarkedSentence("It was Shakespeare.", (1,)),), 1.0, references=(PLAY,)
    ),
    "capital of france": GeneratedAnswer(
        "",
        (MarkedSentence("Lyon is a city.", (1,)), MarkedSentence("I guess Paris.", ())),
        3.0,
        references=(FRANCE,),
    ),
    "largest planet": GeneratedAnswer("", (), 2.0, references=(PLANETS,)),
    "year of the moon landing": GeneratedAnswer(error="It is away."),
}
SHORT = {
    "who wrote hamlet": GeneratedAnswer("shakespeare"),
    "capital of france": GeneratedAnswer("Paris, Lyon"),
    "largest planet": GeneratedAnswer(""),
    "year of the moon landing": GeneratedAnswer(""),
}
SYSTEM = AnswerSystem(label="mine", arm=Arm.ON, name="mine")
EXPECTED = {
    "accuracy": [1, 1, 0, 0],
    "answered": [1, 1, 0, 0],
    "in references": [1, 1, 1, 0],
    "in cited sentences": [1, 0, 0, 0],
    "exact match": [1, 0, 0, 0],
    "F1": [1, 2 / 3, 0, 0],
}


@pytest.mark.parametrize(("measure", "values"), EXPECTED.items(), ids=EXPECTED)
def test_each_measure_of_four_answers(measure: str, values: list[float]) -> None:
    result = accuracy.measure(SYSTEM, ASKED, WRITTEN, SHORT)
    assert [result.values[measure][row.question] for row in ASKED] == pytest.approx(values)
    assert result.failures == {"year of the moon landing": "It is away."}


def test_a_closed_book_answer_has_no_references_to_measure_and_may_refuse() -> None:
    system = read_system("closed-book:mine", "closed-book:mine", 1, Arm.ON)
    refused = GeneratedAnswer("", (MarkedSentence("I do not know who wrote it.", ()),))
    result = accuracy.measure(system, ASKED[:1], {ASKED[0].key: refused})
    assert result.values.keys() == {"accuracy", "answered"}
    assert result.values["answered"] == {"who wrote hamlet": 0.0}


def test_the_report_has_all_questions_the_parts_and_the_differences() -> None:
    silent = {row.key: GeneratedAnswer() for row in ASKED}
    other = AnswerSystem(label="other", arm=Arm.ON, name="other")
    evaluation = AnswerEvaluation(
        title="questions.jsonl: 4 questions",
        measures=["accuracy", "in references"],
        baseline="mine",
        results=[accuracy.measure(SYSTEM, ASKED, WRITTEN), accuracy.measure(other, ASKED, silent)],
        apart={"questions that the collection can answer": frozenset({"largest planet"})},
        parts={"no overlap": frozenset({"capital of france", "largest planet"}), "overlap": frozenset()},
    )
    numbers = json.loads(summary(evaluation))
    assert numbers["mine"]["all questions"]["accuracy"]["value"] == 0.5
    assert numbers["mine"]["questions that the collection can answer"]["in references"]["value"] == 1
    assert numbers["mine"]["no overlap"]["accuracy"] | {"low": 0, "high": 0} == {
        "value": 0.5,
        "low": 0,
        "high": 0,
        "questions": 2,
    }
    assert "overlap" not in numbers["mine"]
    page = markdown(evaluation)
    assert "| mine | 50.0 (0.0 to 100.0) | 75.0 (25.0 to 100.0) | 1.50 |" in page
    assert "## Questions that the collection can answer: 1" in page
    assert "| no overlap | 2 | 50.0" in page
    assert "| other | accuracy | -0.5000 |" in page
    assert "- mine, 1: It is away." in page
    kept = json.loads(details(evaluation))
    assert kept["systems"]["mine"]["values"]["accuracy"]["who wrote hamlet"] == 1.0
