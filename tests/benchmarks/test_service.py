"""The benchmark of the service, small: every measurement is made, and what holds on any machine holds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.service import ServicePlan, milliseconds, run, show
from tests.server.api.conftest import collection_data

pytestmark = pytest.mark.long

__all__ = ["collection_data"]

QUESTIONS = [
    "How do bats find their way in the dark?",
    "What causes the tides?",
    "How do bees make honey?",
    "What does a bat listen to?",
    "How many high tides are there each day?",
    "How do bees thicken nectar?",
]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are pinned to cores as only Linux has it")
def test_every_measurement_is_made(
    collection_data: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {
        "data_dir": str(collection_data),
        "cache_dir": str(cache),
        "search.collection": "notes",
        "search.providers": "collection",
        "generator.name": "extractive",
        "threads": 1,
    }
    designs = {"citewell": 2}
    plan = ServicePlan(
        QUESTIONS, repeats=1, seconds=0.3, clients=3, streams=24, queue=2, soak=0.5, designs=designs
    )
    result = run(plan, settings)
    show(result)
    assert "| streams at once | 24 |" in capsys.readouterr().out
    assert result["bare_pipeline_ms"]["p50"] > 0
    design = result["designs"]["citewell"]
    assert design["added"]["added_ms"]["p50"]["median"] > 0
    assert design["sustained"]["answers_per_second"]["median"] > 0
    assert design["streams"]["errors"]["max"] == 0
    assert set(design["overload"]["statuses"]) <= {"201", "429"}
    assert design["overload"]["places"]["median"] == 4
    assert design["soak"]["answers"] > 0
    assert design["soak"]["megabytes_last_tenth"] > 10


def test_percentiles() -> None:
    assert milliseconds([n / 1000 for n in range(100)]) == {"p50": 50.0, "p95": 95.0, "max": 99.0}
