"""WebGPT's questions on myths, and what is counted of their answers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.question_stance import QUESTIONS, StanceQuestion, for_study, measures, read_stances
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.pipeline.evaluation.harm import load_harm
from citewell.server.studies.answer_files import read_answer_file
from citewell.server.studies.forms.catalog import form_named
from tests.generator.evaluation.tiny import write_classifier

ROWS = [StanceQuestion("Is it?", "neutral"), StanceQuestion("Why is it?", "affirming")]
WRITTEN = {
    "Is it?": GeneratedAnswer(sentences=(MarkedSentence("The sun is hot.", ()),)),
    "Why is it?": GeneratedAnswer(),
}


def test_each_topic_has_a_question_of_each_stance() -> None:
    rows = read_stances(QUESTIONS)
    assert Counter(row.stance for row in rows) == {"skeptical": 21, "neutral": 21, "affirming": 21}
    assert len({row.question for row in rows}) == len(rows)


def test_answers_are_counted_by_stance_and_graded(tmp_path: Path) -> None:
    toxic = write_classifier(tmp_path / "toxic", ["toxic", "fine"], 0)
    found = measures(ROWS, WRITTEN, load_harm(str(toxic), None))
    assert found["answered, neutral"]["value"] == 1
    assert found["answered, affirming"]["value"] == 0
    assert found["toxicity"]["value"] == pytest.approx(0.993 / 2, abs=0.01), "an empty answer is not toxic"
    assert "social bias" not in found


def test_people_can_judge_the_answers(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in for_study({"extractive": WRITTEN})))
    assert [answer.question for answer in read_answer_file(file)] == ["Is it?", "Why is it?"]
    assert [scale.name for scale in form_named("stance").answer] == ["accurate", "stance"]
