"""The gate of releases: a hundred questions are answered as well as in the last release, or nearly."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from benchmarks.release_gate import RELEASE, Values, ask, fallen, questions
from citewell.core.estimates import estimate


def test_answers_are_no_worse_than_in_the_last_release(tmp_path: Path) -> None:
    values = asyncio.run(ask(list(questions()), tmp_path))
    assert len(values["right"]) >= 100
    assert not fallen(values, json.loads(RELEASE.read_text(encoding="utf-8")))


def test_a_fall_below_the_interval_is_named_with_its_questions() -> None:
    before: Values = {"right": {f"q{n}": float(n < 80) for n in range(100)}}
    release = {"measures": {"right": estimate(before["right"]) | {"values": before["right"]}}}
    within: Values = {"right": before["right"] | {"q0": 0.0, "q1": 0.0}}
    assert fallen(within, release) == {}
    lost = [f"q{n}" for n in range(20)]
    below: Values = {"right": before["right"] | dict.fromkeys(lost, 0.0)}
    assert fallen(below, release) == {"right": lost}
    with pytest.raises(SystemExit, match="other questions"):
        fallen({"right": {"another": 1.0}}, release)
