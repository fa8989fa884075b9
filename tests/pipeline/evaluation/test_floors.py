"""The quality gate: quoted answers hold the accepted answers of 40 questions as often as before.

The folder of data is that which the environment variable CITEWELL_DATA names; docs/benchmarks.md says what is
in it. `python -m benchmarks.answer_floors --pin` pins the floors again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.answer_floors import FLOORS, checksums, measured

DATA = os.environ.get("CITEWELL_DATA", "")


@pytest.mark.skipif(not DATA, reason="CITEWELL_DATA does not name a folder with data")
def test_answers_are_as_accurate_as_before() -> None:
    stored = json.loads(FLOORS.read_text(encoding="utf-8"))
    if checksums(Path(DATA)) != stored["data"]:
        pytest.fail("The floors were pinned on other data than that of CITEWELL_DATA.")
    scores = measured(Path(DATA))
    floors = stored["floors"]
    assert scores.keys() == floors.keys()
    assert not {name: (score, floors[name]) for name, score in scores.items() if score < floors[name]}
