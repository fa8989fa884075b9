"""The scorer that comes with Citewell: small, quick to load, and as good as its card says."""

from __future__ import annotations

import json

import pytest

from citewell.core.errors import WeightsMissingError
from citewell.core.weights import locate
from citewell.scorer.form import read_form
from citewell.scorer.load import DEFAULT, SCORERS, PreferenceScorer, load_scorer
from citewell.scorer.training.measures import measure, scored
from citewell.scorer.training.pinned import read_pinned

pytestmark = pytest.mark.long

FOLDER = SCORERS / DEFAULT


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> PreferenceScorer:
    try:
        locate(read_form(FOLDER).base)
    except WeightsMissingError:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not installed")
    return load_scorer(DEFAULT, tmp_path_factory.mktemp("cache"), threads=1)


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.rglob("*")) < 10_000_000


def test_it_was_taught_nothing_that_may_not_be_passed_on() -> None:
    data = json.loads((FOLDER / "training.json").read_text())["data"]
    assert {each["license"] for each in data} == {"MIT"}
    assert (FOLDER / "LICENSE-hh-rlhf").is_file()


def test_it_judges_the_pinned_comparisons_as_its_card_says(scorer: PreferenceScorer) -> None:
    pinned = read_pinned(FOLDER, read_form(FOLDER))
    logits = []
    for each in pinned:
        first, second = scorer.rate(each.question, [each.first, each.second])
        logits.append(first - second)
    card = json.loads((FOLDER / "training.json").read_text())["test"]
    assert measure(scored(pinned, logits))["accuracy"] == pytest.approx(card["accuracy"], abs=0.05)


def test_scores_are_those_of_the_standard_normal_distribution(scorer: PreferenceScorer) -> None:
    pinned = read_pinned(FOLDER, read_form(FOLDER))[:60]
    scores = [score for each in pinned for score in scorer.rate(each.question, [each.first, each.second])]
    mean = sum(scores) / len(scores)
    assert abs(mean) < 0.5
    assert 0.5 < (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5 < 1.5
