"""The gate lets a policy pass that is no worse than its start on the pinned questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.types import Reference
from citewell.reinforcement.feedback.gate import (
    AnswersGateError,
    GateMeasure,
    check_gate,
    gate_measures,
    gate_table,
)
from citewell.reinforcement.rollout import PromptedQuestion
from citewell.scorer.load import load_scorer

BATS = "Bats find their way in the dark by echolocation, which needs no light."
ASKED = [
    PromptedQuestion(f"How do bats of kind {number} fly?", (Reference(1, "", "", BATS, 0.0),), ())
    for number in range(24)
]
CITED, ASTRAY = f"{BATS} [1]", "Cheese is made of milk from cows and goats, in large copper kettles."


def measured(cache: Path, before: str, after: str) -> list[GateMeasure]:
    answers = {name: [text] * len(ASKED) for name, text in (("before", before), ("after", after))}
    return gate_measures(ASKED, answers, load_scorer("citewell-scorer", cache, 1), cache, 1)


def test_a_policy_that_answers_as_well_passes(cache: Path, tmp_path: Path) -> None:
    measures = measured(cache, CITED, CITED)
    assert {each.name: each.after for each in measures if "citation" in each.name} == {
        "citation recall": 1.0,
        "citation precision": 1.0,
    }
    check_gate(measures, tmp_path, force=False)
    assert "passed" in gate_table(measures)


def test_a_policy_whose_citations_are_worse_is_refused(cache: Path, tmp_path: Path) -> None:
    measures = measured(cache, CITED, ASTRAY)
    with pytest.raises(AnswersGateError, match=r"worse than its start in .*citation recall") as caught:
        check_gate(measures, tmp_path / "candidate", force=False)
    assert "candidate" in (caught.value.hint or "")
    assert "worse" in gate_table(measures)
    check_gate(measures, tmp_path, force=True)
    check_gate(
        [each for each in measured(cache, ASTRAY, CITED) if "citation" in each.name], tmp_path, force=False
    )
