"""The figures of a report are those that a small study gives by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from citewell.server.store.raters import Pseudonyms
from citewell.server.studies.judgments import ItemJudgment
from citewell.server.studies.report.coefficients import preference_agreement
from citewell.server.studies.report.plain import plain
from citewell.server.studies.report.study_report import report_of
from citewell.server.studies.report.tables import markdown_report

from .samples import study_of

SALTED = Pseudonyms("salt")
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_win_rates_of_rankings_count_ties_as_one_half() -> None:
    study, (sky, sea) = study_of("turing", systems=("alpha", "beta", "human"))
    judgments = [
        ItemJudgment(item=sky, rater="name ada", created=NOON, ranks=(1, 2, 3)),
        ItemJudgment(item=sea, rater="name ada", created=NOON + timedelta(minutes=2), ranks=(2, 2, 1)),
        ItemJudgment(item=sky, rater="key 1", created=NOON, ranks=(2, 1, 3)),
    ]
    report = report_of(study, [sky, sea], judgments, {"key 1"}, SALTED)
    rates = report.wins.rates
    # Sky: ada prefers alpha to beta, the other one beta; sea is a tie. Each question counts once.
    assert rates["alpha", "beta"] == (0.5, 0.0, 2, 3)
    # Sky: both prefer alpha to the human; sea: ada prefers the human. (1 + 0) / 2, and sd .707 / √2.
    assert rates["alpha", "human"] == (0.5, pytest.approx(0.5), 2, 3)
    assert rates["human", "alpha"].mean == 0.5
    assert report.baseline == "human"
    ranks = next(result for result in report.scores if result.measure.name == "rank")
    assert ranks.means["alpha"].mean == pytest.approx(((1 + 2) / 2 + 2.5) / 2)
    assert ranks.tests["alpha"].queries == 2
    # Of the three pairs of sky, the two raters prefer the same answer in two.
    (agreement,) = report.agreements
    assert (agreement.units, agreement.agreed) == (3, pytest.approx(2 / 3))
    assert [title for title, _ in report.groups] == [
        "Raters whose other judgments may train a scorer",
        "Held-out raters",
    ]
    assert report.groups[0][1].rates["beta", "alpha"].mean == 1.0
    busiest = report.raters[0]
    assert (busiest.rater, busiest.items, busiest.seconds) == (SALTED.of("name ada"), 2, 120.0)
    assert plain(report)["wins_against_human"]["beta"]["mean"] == 0.5


def test_preferences_agree_by_one_half_where_one_is_neutral() -> None:
    assert preference_agreement([[1, 0.5], [1, 1], [0, 1]]) == 0.5
    assert preference_agreement([[0.5, 0.5]]) == 1.0
    assert preference_agreement([[1]]) is None


def test_means_of_scales_and_what_is_joint() -> None:
    study, (sky, sea) = study_of("truthfulqa", systems=("alpha", "beta"))
    judgments = [
        ItemJudgment(
            item=sky,
            rater="name scripted 1",
            created=NOON,
            scores={0: {"truthful": 1, "informative": 1}, 1: {"truthful": 1, "informative": 0}},
        ),
        ItemJudgment(
            item=sea,
            rater="name scripted 1",
            created=NOON,
            scores={0: {"truthful": 0, "informative": 1}, 1: {"truthful": 1}},
        ),
    ]
    report = report_of(study, [sky, sea], judgments, set(), SALTED)
    found = {result.measure.name: result.means for result in report.scores}
    assert found["truthful"]["alpha"] == (0.5, pytest.approx(0.5), 2, 2)
    assert found["truthful"]["beta"] == (1.0, 0.0, 2, 2)
    assert found["truthful_informative"]["alpha"].mean == 0.5
    assert found["truthful_informative"]["beta"] == (0.0, None, 1, 1)
    text = markdown_report(report)
    assert "1 of 1 raters are scripts, not people." in text
    assert "| alpha | 0.500 ± 0.500 | 1.000 ± 0.000 | 0.500 ± 0.500 |" in text


def test_comparisons_by_scale() -> None:
    study, items = study_of("minimal", systems=("alpha", "human"))
    said = [{"accuracy": -2, "coherence": 0, "overall": -1}, {"accuracy": -1, "coherence": 1, "overall": 0}]
    judgments = [
        ItemJudgment(item=item, rater="name ada", created=NOON, comparison=comparison)
        for item, comparison in zip(items, said, strict=True)
    ]
    report = report_of(study, items, judgments, set(), SALTED)
    assert report.wins.rates["alpha", "human"] == (0.75, pytest.approx(0.25), 2, 2)
    scales = {each.name: each.matrix.rates["alpha", "human"].mean for each in report.by_scale}
    assert scales == {"accuracy": 1.0, "coherence": 0.25, "overall": 0.75}
