"""The benchmark that asks what tells answerable questions from others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.enough import (
    READERS,
    GivenQuestion,
    combined,
    drawn,
    half_of,
    main,
    measured_signal,
    mtrag,
    refused,
    squad,
)

DATA = os.environ.get("CITEWELL_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="CITEWELL_DATA does not name a folder with data")


def test_refused_is_the_share_below_the_value_that_loses_one_in_twenty() -> None:
    answerable = np.arange(20.0)
    assert refused(answerable, np.array([-3.0, -2.0, -1.0, 19.0])) == 0.75
    assert refused(answerable, answerable) <= 0.05, "a signal that tells nothing refuses no more of these"


def test_a_signal_that_tells_all_and_one_that_tells_nothing() -> None:
    true = np.arange(200) % 2 == 0
    assert measured_signal(true.astype(float), true) == {
        "area": 1.0,
        "refused": "1.00 (1.00 to 1.00)",
        "questions": 200,
    }
    assert measured_signal(np.ones(200), true)["refused"] == "0.00 (0.00 to 0.00)"


def test_the_combination_is_fitted_on_the_other_half_alone() -> None:
    def rows(seed: int) -> list[dict[str, float | bool]]:
        chance = np.random.default_rng(seed)
        found: list[dict[str, float | bool]] = []
        for place in range(200):
            yes = place % 2 == 0
            found.append({"answerable": yes, "a": yes + chance.normal(), "b": yes + chance.normal()})
        return found

    here, other = rows(1), rows(2)
    true = np.array([row["answerable"] for row in here])
    both = combined(other, here, ["a", "b"])
    alone = np.array([row["a"] for row in here])
    assert measured_signal(both, true)["area"] > measured_signal(alone, true)["area"]
    upside_down = [row | {"answerable": not row["answerable"]} for row in here]
    assert (combined(other, upside_down, ["a", "b"]) == both).all(), "their own labels play no part"


def test_questions_of_a_group_are_in_one_half() -> None:
    questions = [GivenQuestion(f"What is {n}?", (), n % 2 == 0, f"group {n % 30}") for n in range(600)]
    dev, held = (drawn(questions, half, 20) for half in ("dev", "held"))
    assert [sum(each.answerable for each in of) for of in (dev, held)] == [20, 20]
    assert not {each.group for each in dev} & {each.group for each in held}
    assert {half_of(each.group) for each in held} == {"held"}


@needs_data
def test_the_sets_have_both_kinds_with_passages() -> None:
    for read in (squad, mtrag):
        questions = list(read())
        assert min(sum(each.answerable is kind for each in questions) for kind in (True, False)) >= 100
        assert all(each.references for each in questions)


@needs_data
def test_a_run_goes_on_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    details, out = tmp_path / "details.jsonl", tmp_path / "enough.json"
    command = ["enough", "--sets", "squad", "--data-dir", str(tmp_path), "--details", str(details)]
    monkeypatch.setattr("sys.argv", [*command, "--limit", "2", "--output", str(out)])
    main()
    before = details.read_text(encoding="utf-8")
    assert len(before.splitlines()) == 8
    main()
    assert details.read_text(encoding="utf-8") == before
    found = json.loads(out.read_text(encoding="utf-8"))["sets"]["squad"]
    assert list(found) == [*READERS, "combination of 3"]
    monkeypatch.setattr("sys.argv", [*command, "--sets", "squad2"])
    with pytest.raises(SystemExit):
        main()
    assert "unknown sets: squad2" in capsys.readouterr().err
