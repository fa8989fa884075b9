from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.bootstrap.plots import check_plots, draw_statistics
from citewell.bootstrap.stats import FilterStage, statistics, summary
from citewell.bootstrap.types import FilterScores, Outcome
from citewell.core.errors import InputError
from tests.bootstrap.outcomes import drop, fault, sample

SHORT = FilterScores(words=20, segments=1, overlap=0.6, marks=0, right=0, cited=1, cited_segments=1)
OUTCOMES: list[Outcome] = [
    sample("a", "Question a?"),
    sample("b", "Question b?", scores=SHORT),
    drop("c", "citation_accuracy"),
    drop("d", "hallucination"),
    drop("e", "empty", scores=None, raw_answer=""),
    fault("f"),
    *(drop(f"h{n}", "hallucination", raw_answer="A long story. " * 100) for n in range(10)),
]


def test_the_funnel_follows_the_order_of_the_filters() -> None:
    found = statistics(OUTCOMES)
    assert (found.rows, found.kept) == (16, 2)
    assert found.funnel == (
        FilterStage("fault", 1, 15),
        FilterStage("empty", 1, 14),
        FilterStage("hallucination", 11, 3),
        FilterStage("citation_accuracy", 1, 2),
    )
    assert found.share == 2 / 16


def test_measures_are_those_of_the_samples_alone() -> None:
    found = statistics(OUTCOMES)
    assert found.measures["words"].mean == 30
    assert found.measures["words"].median == 30
    assert found.measures["accuracy"].mean == pytest.approx(2 / 3)
    assert found.cited == {1: 1, 2: 1}
    assert found.usage.prompt_tokens == 1800
    assert found.usage.cost == pytest.approx(0.002)


def test_examples_are_the_same_whatever_the_order_and_no_more_than_asked_for() -> None:
    forwards, backwards = statistics(OUTCOMES, 3), statistics(reversed(OUTCOMES), 3)
    assert forwards.examples == backwards.examples
    assert {name: len(found) for name, found in forwards.examples.items()} == {
        "fault": 1,
        "empty": 1,
        "hallucination": 3,
        "citation_accuracy": 1,
    }
    assert statistics(OUTCOMES, 0).examples == {}


def test_the_summary_says_all_that_people_ask() -> None:
    text = summary(statistics(OUTCOMES))
    for expected in (
        "- hallucination             11           3 left, 18.8%",
        "kept                         2   12.5% of the rows",
        "references cited: 1 cite 1, 1 cite 2",
        "teacher: 2 requests, 1,800 prompt tokens, 120 answer tokens, cost 0.00",
        "f: Question f?\n    The teacher did not answer.",
        "e: Question e?\n    (nothing)",
        "c: Question c?; overlap 0.75; cited 2; words 40; accuracy 0.6667",
    ):
        assert expected in text
    assert max(map(len, text.splitlines())) < 400


def test_what_a_teacher_wrote_does_not_steer_the_terminal() -> None:
    text = summary(statistics([drop("d", "short", raw_answer="\x1b[2J\0gone")]))
    assert "\ufffd[2J\ufffdgone" in text
    assert all(line.isprintable() for line in text.splitlines())


def test_numbers_are_json() -> None:
    values = json.loads(json.dumps(statistics(OUTCOMES).to_json()))
    assert values["kept"] == 2
    assert values["share"] == 0.125
    assert values["examples"]["fault"][0]["text"] == "The teacher did not answer."


def test_rows_of_which_none_is_kept_have_a_funnel() -> None:
    assert "0.0% of the rows" in summary(statistics([fault("f")]))


@pytest.mark.parametrize("outcomes", [OUTCOMES, [fault("f")]], ids=["samples", "none"])
def test_the_picture_is_drawn(tmp_path: Path, outcomes: list[Outcome]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra `eval`, is not installed")
    draw_statistics(statistics(outcomes), tmp_path / "funnel.png")
    assert (tmp_path / "funnel.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_an_unknown_kind_is_refused() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra `eval`, is not installed")
    with pytest.raises(InputError, match=r"funnel\.gif is not the name of a picture"):
        check_plots(Path("funnel.gif"))
