"""Two processes of the service share their metrics: whichever is asked tells of both."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from tests.server.api.conftest import Search
from tests.server.api.test_serve import Serve
from tests.server.faults.conftest import ask_notes, states, until
from tests.server.faults.test_processes import kill, owners, waiting_for, workers
from tests.server.telemetry.test_metrics import Numbers, numbers


def scrape(client: httpx.Client) -> Numbers:
    response = client.get("/metrics")
    assert response.status_code == 200
    return numbers(response.text)


def test_two_processes_add_up_and_leave_nothing_behind(run: Serve, search: Search, tmp_path: Path) -> None:
    database = tmp_path / "citewell.sqlite3"
    service = run(
        "--workers", "2", "--set", "server.concurrency=1", "--set", "server.queue=90", **waiting_for(search)
    )
    with service.client() as ready:
        # A connection for each request, which either worker may take.
        once = httpx.Limits(max_keepalive_connections=0)
        client = httpx.Client(base_url=ready.base_url, timeout=60, trust_env=False, limits=once)
    until(lambda: len(workers(service.process.pid)) == 2)
    folder = folder_of(workers(service.process.pid))
    until(lambda: len(list(folder.glob("gauge_*.db"))) == 2)  # each has loaded its models
    with client, ThreadPoolExecutor(100) as pool:
        asked = 0
        while len(owners(database)) < 2:  # until both of them work on one
            asked += 1
            pool.submit(client.post, "/v1/answers", json={"question": f"Why {asked}?"})
            until(lambda wanted=asked: len(states(client)) == wanted)
        until(lambda: scrape(client)["questions_running",] == 2)
        until(lambda: scrape(client)["questions_waiting",] == asked - 2)
        (killed, _), (living, questions) = owners(database).items()
        kill(killed)
        until(lambda: scrape(client)["questions_running",] == 1)
        until(lambda: len(workers(service.process.pid) - {killed}) == 2)
        search.gate.set()
        until(lambda: scrape(client).get(("questions_total", "answer", "no_evidence")) == questions)
        for _ in range(20):
            assert ask_notes(client).json()["outcome"] == "answered"
        # Each process tells the others once a second how long its queue is.
        until(lambda: scrape(client)["questions_running",] == 0)
        until(lambda: scrape(client)["questions_waiting",] == 0)
        for _ in range(10):
            found = scrape(client)
            assert found["questions_total", "answer", "answered"] == 20
            assert found["questions_total", "answer", "no_evidence"] == questions
            assert found["questions_running",] == found["questions_waiting",] == 0
            assert found["stage_seconds_count", "rank"] >= 20
        kill(living)
        until(lambda: not workers(service.process.pid) & {killed, living})
        assert scrape(client)["questions_total", "answer", "answered"] == 20  # what was counted stays
    assert folder.is_dir()
    service.process.send_signal(signal.SIGTERM)
    assert service.ended()[0] in (0, -signal.SIGTERM)
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="only some systems give files their room")
def test_a_full_disk_ends_no_process_that_counts(tmp_path: Path) -> None:
    """Files that are mapped into memory have their room from the start."""
    count = (
        f"from citewell.server.telemetry.metrics import Metrics\nMetrics({str(tmp_path)!r})._fetched.inc()"
    )
    variables = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", count], env=variables, check=True)
    sizes = {file.name.rpartition("_")[0]: file.stat() for file in tmp_path.iterdir()}
    assert sizes.keys() == {"counter", "histogram", "gauge_livesum"}
    assert all(found.st_blocks * 512 >= found.st_size >= 200_000 for found in sizes.values())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="only some systems give files their room")
def test_a_process_without_room_for_its_metrics_ends_and_leaves_no_empty_file(tmp_path: Path) -> None:
    reserve = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        f"from citewell.server.telemetry.shared import reserve\nreserve({str(tmp_path)!r})\n"
    )
    ended = subprocess.run([sys.executable, "-c", reserve], capture_output=True, text=True, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False), ended.stderr
    assert list(tmp_path.iterdir()) == []


def folder_of(pids: set[int]) -> Path:
    """Where the processes share their numbers."""
    (name,) = {psutil.Process(pid).environ()["PROMETHEUS_MULTIPROC_DIR"] for pid in pids}
    return Path(name)
