"""Processes of the service are killed, and others go on."""

from __future__ import annotations

import signal
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from tests.server.api.conftest import Search
from tests.server.api.test_serve import Serve
from tests.server.faults.conftest import PostgresServer, ask_notes, exported, judge, states, until


def waiting_for(search: Search) -> dict[str, str]:
    """Variables of a process whose questions wait for `search`; those that name a collection do not."""
    return {
        "CITEWELL_SEARCH__PROVIDERS": "searxng",
        "CITEWELL_SEARCH__SEARXNG_URL": search.url,
        "CITEWELL_SEARCH__SECONDS": "120",
    }


def test_a_replica_goes_on_when_another_one_is_killed(
    run: Serve, search: Search, postgres_server: PostgresServer
) -> None:
    variables = waiting_for(search) | {"CITEWELL_SERVER__DATABASE_URL": postgres_server.url}
    killed, living = run(**variables), run(**variables)  # both bring the new database up to date at once
    with killed.client() as first, living.client() as second, ThreadPoolExecutor(1) as pool:
        addresses = [ask_notes(client).headers["Location"] for client in (first, second)]
        accepted = {
            id_ for client in (first, second) for address in addresses for id_ in judge(client, address)
        }
        asking = pool.submit(first.post, "/v1/answers", json={"question": "Why?"})
        search.await_question()
        until(lambda: "running" in states(second).values())
        killed.process.kill()
        killed.process.wait()
        with pytest.raises(httpx.TransportError):
            asking.result()
        (broken,) = states(second).keys() - set(addresses)
        lost = second.get(broken).json()
        assert (lost["status"], lost["problem"]["title"]) == ("failed", "Interrupted")
        assert ask_notes(second).json()["outcome"] == "answered"
        assert [states(second)[address] for address in addresses] == ["done", "done"]
        accepted |= judge(second, addresses[0])
        assert exported(second) == accepted
        assert len(accepted) == 10


def test_workers_share_a_port_and_a_database_and_one_that_is_killed_is_replaced(
    run: Serve, search: Search, tmp_path: Path
) -> None:
    service = run("--workers", "2", **waiting_for(search))
    with service.client() as ready:
        # A connection for each request, which either worker may take.
        once = httpx.Limits(max_keepalive_connections=0)
        client = httpx.Client(base_url=ready.base_url, timeout=120, trust_env=False, limits=once)
    until(lambda: len(workers(service.process.pid)) == 2)
    with client, ThreadPoolExecutor(1) as pool:
        known = ask_notes(client).headers["Location"]
        assert {client.get(known).json()["outcome"] for _ in range(10)} == {"answered"}
        accepted = judge(client, known)
        asking = pool.submit(client.post, "/v1/answers", json={"question": "Why?"})
        search.await_question()
        until(lambda: "running" in states(client).values())
        (first,) = owners(tmp_path / "citewell.sqlite3")
        (other,) = workers(service.process.pid) - {first}
        kill(first)
        with pytest.raises(httpx.TransportError):
            asking.result()
        assert ask_notes(client).json()["outcome"] == "answered"
        until(lambda: sorted(set(states(client).values())) == ["done", "failed"])
        accepted |= judge(client, known)
        until(lambda: len(workers(service.process.pid) - {first}) == 2)
        kill(other)  # so that only workers that the parent has started since are left
        assert ask_notes(client).json()["outcome"] == "answered"
        accepted |= judge(client, known)
        assert exported(client) == accepted
        assert states(client)[known] == "done"
    service.process.send_signal(signal.SIGTERM)
    assert service.ended()[0] in (0, -signal.SIGTERM)


def workers(parent: int) -> set[int]:
    """The processes that a parent has started to serve."""
    found = set()
    for child in psutil.Process(parent).children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if any("spawn_main" in word for word in child.cmdline()):
                found.add(child.pid)
    return found


def owners(file: Path) -> Counter[int]:
    """The processes that have questions which are not at their end, and how many."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT owner FROM answers WHERE status = 'running'").fetchall()
    return Counter(int(name.split("/")[1]) for (name,) in rows)


def kill(pid: int) -> None:
    """Kill a worker, and wait until its connections are closed, whether its parent has noticed or not."""
    process = psutil.Process(pid)
    process.kill()
    until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)
