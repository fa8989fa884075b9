"""From written answers to tables: what a person reads is what was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.evaluation.measures import GeneratorResult, measure
from citewell.generator.evaluation.report import GenerationEvaluation, details, markdown, summary
from citewell.generator.evaluation.rows import EvaluationRow

REFERENCES = (Reference(1, "", "Sun", "the sun is hot", 0.0), Reference(2, "", "", "the moon is cold", 0.0))
ROWS = (
    EvaluationRow("a", 1, "What is hot?", REFERENCES, "The sun is.", ("the sun is hot",), source="one"),
    EvaluationRow("b", 2, "What is cold?", REFERENCES, source="two"),
    EvaluationRow("c", 3, "What is wet?", REFERENCES, answerable=False, source="two"),
)
GOOD = {
    "a": GeneratedAnswer("the sun is hot [2].", (MarkedSentence("the sun is hot", (1,)),)),
    "b": GeneratedAnswer("the moon is cold.", (MarkedSentence("the moon is cold", (2,)),)),
    "c": GeneratedAnswer("water is [1]."),
}
FAILING = GOOD | {
    "b": GeneratedAnswer(error="It is away."),
    "c": GeneratedAnswer("water", (MarkedSentence("water", ()),)),
}


class WordJudge:
    name = "words"

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        return [set(pair.claim.split()) <= set(" ".join(pair.passages).split()) for pair in pairs]


def outcome(name: str, written: dict[str, GeneratedAnswer], *, raw: bool = False) -> GeneratorResult:
    return measure(name, ROWS, written, [WordJudge()], raw=raw, loss=lambda text: float(len(text)))


def test_own_marks_are_read_as_the_pipeline_reads_them() -> None:
    written = "## What is hot\n\n- the sun is hot [1]\n- the moon is cold [2]"
    answers = {"a": GeneratedAnswer(written, markdown=True)}
    own = measure("own", ROWS[:1], answers, [WordJudge()], raw=True)
    assert own.values["words"]["citation precision"] == {"a": 1.0}
    assert own.values["words"]["citation recall"] == {"a": 1.0}


def test_measures_of_corrected_and_of_raw_marks() -> None:
    found = outcome("good", GOOD).values
    assert found["words"] == {
        "citation recall": {"a": 1, "b": 1},
        "citation precision": {"a": 1, "b": 1},
        "claim recall": {"a": 1},
    }
    assert found["text"]["refused, unanswerable"] == {"c": 1}
    assert found["text"]["refused, answerable"] == {"a": 0, "b": 0}
    assert found["text"]["words"] == {"a": 4, "b": 4}
    assert found["text"]["loss per token"] == {"a": 14, "b": 16}
    assert found["text"]["ROUGE-Lsum"] == {"a": pytest.approx(6 / 7)}
    assert "copied 8-grams" not in found["text"], "all answers are shorter"
    raw = outcome("good", GOOD, raw=True).values
    assert raw["words"]["citation recall"] == {"a": 0, "b": 0}
    assert raw["text"]["refused, unanswerable"] == {"c": 0}


def test_failures_count_and_are_named() -> None:
    found = outcome("failing", FAILING)
    assert found.failures == {2: "It is away."}
    assert found.values["words"]["citation recall"] == {"a": 1, "b": 0}
    assert found.values["text"]["refused, unanswerable"] == {"c": 0}


def test_tables_and_json_say_the_same() -> None:
    evaluation = GenerationEvaluation(
        "rows.jsonl", ROWS, "good", (outcome("good", GOOD), outcome("failing", FAILING)), ("Note this.",)
    )
    page = markdown(evaluation)
    assert page.startswith("# rows.jsonl: 3 questions, 1 of them unanswerable\n\nNote this.")
    assert "| good | words | 100.0 (100.0 to 100.0) | 100.0 (100.0 to 100.0) | 100.0" in page
    assert "| failing | words | 50.0 (0.0 to 100.0) |" in page
    assert "| two | failing | words | 1 | 0.0 | 0.0 | not measured |" in page
    assert "## Differences to good, judged by words" in page
    assert "| failing | citation recall | -0.5000 |" in page
    assert "- failing, 1 rows (line 2): It is away." in page
    scores = json.loads(summary(evaluation))
    assert scores["failing"]["words"]["citation recall"] == {
        "value": 0.5,
        "low": 0,
        "high": 1,
        "questions": 2,
    }
    assert scores["good"]["text"]["words"]["value"] == 4
    kept = json.loads(details(evaluation))
    assert kept["values"]["failing"]["words"]["citation recall"] == {"a": 1, "b": 0}
    assert kept["comparisons"]["words"]["citation recall"]["failing"]["difference"] == -0.5
    assert kept["comparisons"]["text"]["loss per token"]["failing"]["queries"] == 1, "over what both have"
    assert kept["failures"]["failing"] == {"2": "It is away."}


def test_one_generator_has_nothing_to_be_compared_with() -> None:
    page = markdown(GenerationEvaluation("rows.jsonl", ROWS[:1], "good", (outcome("good", GOOD),)))
    assert "Differences" not in page
    assert "By source" not in page
