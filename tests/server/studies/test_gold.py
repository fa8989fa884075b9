"""What of a rater's judgments of gold items counts as agreement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from citewell.server.studies.gold import GoldAgreement, agreement_with_gold
from citewell.server.studies.judgments import ItemJudgment
from tests.server.studies.samples import study_of
from tests.server.studies.test_report import NOON


def agreed(form: str, gold: dict[str, Any], **said: Any) -> GoldAgreement:
    _, (item, _) = study_of(form, systems=("alpha", "beta"))
    judgment = ItemJudgment(item=replace(item, gold=gold), rater="name ada", created=NOON, **said)
    return agreement_with_gold([judgment])


@pytest.mark.parametrize(
    ("gold", "said", "found"),
    [
        ({"overall": 2}, {"overall": 1}, (1, 1)),
        ({"overall": 2}, {"overall": -1}, (0, 1)),
        ({"overall": 2, "coherence": 1}, {"overall": 3}, (1, 1)),
    ],
    ids=["preferred alike", "preferred the other", "left out what was optional"],
)
def test_comparisons(gold: dict[str, int], said: dict[str, int], found: tuple[int, int]) -> None:
    assert agreed("minimal", {"comparison": gold}, comparison=said) == found


def test_scores_of_answers_and_references() -> None:
    gold = {
        "answers": [
            {"scores": {"fluency": 3}, "references": [{"relevancy": 3}, {"relevancy": 0}]},
            {"scores": {"fluency": 1}, "references": [{}, {}]},
        ]
    }
    said = {0: {"fluency": 3}, 1: {"fluency": 2}}
    references = {(0, 1): {"relevancy": 3}, (0, 2): {"relevancy": 2}, (1, 1): {"relevancy": 1}}
    assert agreed("webglm", gold, scores=said, references=references) == (2, 4)


def test_trust_and_claims() -> None:
    trust = [{"reference": 1, "trust": "high"}, {"reference": 2, "trust": "low"}]
    claims = [{"sentence": 0, "support": "strong", "relevance": None}]
    gold = {"answers": [{"trust": trust, "claims": claims}, {"trust": trust[:1]}]}
    said = {
        0: {("trust", 1): "high", ("trust", 2): "medium", ("support", 0): "strong", ("relevance", 0): "side"}
    }
    assert agreed("webgpt", gold, parts=said) == (2, 3)


def test_a_flag_agrees_with_the_same_flag_only() -> None:
    assert agreed("webgpt", {"flag": "unclear"}, flag="unclear") == (1, 1)
    assert agreed("webgpt", {"comparison": {"overall": 1}}, flag="unclear") == (0, 1)
