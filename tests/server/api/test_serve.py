"""`citewell serve` as people run it: what it listens on, how it stops, and what it does without its parts."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.small_service import BATS
from citewell.server.access.keys import new_key
from citewell.server.cut_requests import RepliesToCutRequests
from citewell.server.store.database import open_store
from tests.nursery import Forked, Nursery
from tests.server.api.conftest import Search, Start

Serve = Callable[..., "Process"]
Message = MutableMapping[str, Any]


class Process:
    """`citewell serve` in a process of its own."""

    def __init__(self, process: Forked) -> None:
        self.process = process

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """A client of the service, once it is ready."""
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address, line
        with httpx.Client(base_url=address[0], timeout=120, trust_env=False) as client:
            assert client.get("/ready").status_code == 200  # connections wait until the service has started
            yield client

    def ended(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@pytest.fixture
def run(nursery: Nursery, collection_data: Path, cache: Path, tmp_path: Path) -> Iterator[Serve]:
    processes: list[Process] = []

    def start(*arguments: str, **variables: str) -> Process:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
        environment |= {
            "CITEWELL_DATA_DIR": str(collection_data),
            "CITEWELL_CACHE_DIR": str(cache),
            "CITEWELL_GENERATOR__NAME": "extractive",
            "CITEWELL_SEARCH__COLLECTION": "notes",
            "CITEWELL_SERVER__DATABASE_URL": f"sqlite:///{tmp_path / 'citewell.sqlite3'}",
        }
        command = ("citewell.cli.main:main", "serve", "--port", "0", *arguments)
        process = nursery.start(*command, env=environment | variables, cwd=tmp_path, stdout=None)
        processes.append(Process(process))
        return processes[-1]

    yield start
    for each in processes:
        if each.process.poll() is None:
            os.killpg(each.process.pid, signal.SIGKILL)
            each.process.wait()
        each.process.close()


async def store_key(folder: Path, scope: str = "ask") -> dict[str, str]:
    made = new_key("test", (scope,))
    async with open_store(f"sqlite:///{folder / 'citewell.sqlite3'}") as store:
        await store.keys.add(made.key)
    return {"Authorization": f"Bearer {made.secret}"}


def test_a_service_that_is_stopped_answers_first(run: Serve, search: Search) -> None:
    process = run(CITEWELL_SEARCH__PROVIDERS="searxng", CITEWELL_SEARCH__SEARXNG_URL=search.url)
    with process.client() as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.post, "/v1/answers", json={"question": "Why?"})
        search.await_question()
        process.process.send_signal(signal.SIGTERM)
        while True:
            try:
                httpx.get(client.base_url.join("/health"), trust_env=False, timeout=0.5)
            except httpx.TransportError:
                break
            time.sleep(0.02)
        search.gate.set()
        assert answer.result().json()["status"] == "done"
    assert process.ended()[0] in (0, -signal.SIGTERM)


def test_a_question_that_takes_too_long_at_the_end_is_told_so(run: Serve, search: Search) -> None:
    process = run(
        CITEWELL_SEARCH__PROVIDERS="searxng",
        CITEWELL_SEARCH__SEARXNG_URL=search.url,
        CITEWELL_SERVER__DRAIN_SECONDS="0.5",
    )
    with process.client() as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.post, "/v1/answers", json={"question": "Why?"})
        search.await_question()
        process.process.send_signal(signal.SIGTERM)
        reply = answer.result()
    assert (reply.status_code, reply.headers["Content-Type"]) == (503, "application/problem+json")
    problem = reply.json()
    assert (problem["type"], problem["instance"]) == ("/problems/stopping", "/v1/answers")
    assert "Try again" in problem["detail"]
    assert int(reply.headers["Retry-After"]) >= 1
    assert "Traceback" not in process.ended()[1]


async def test_a_reply_that_has_begun_ends_without_its_rest_when_it_is_cut_off() -> None:
    sent = []

    async def reply(scope: Message, receive: object, send: Callable[[Message], Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise asyncio.CancelledError

    async def send(message: Message) -> None:
        sent.append(message["type"])

    scope = {"type": "http", "method": "GET", "path": "/v1/answers"}
    await RepliesToCutRequests(reply)(scope, None, send)
    assert sent == ["http.response.start"]


def test_what_was_accepted_survives_a_kill(run: Serve) -> None:
    process = run()
    with process.client() as client:
        address = client.post("/v1/answers", json={"question": BATS}).headers["Location"]
        assert client.post(f"{address}/feedback", json={"thumb": 1}).status_code == 201
        process.process.kill()
        process.ended()
    with run().client() as client:
        assert client.get(address).json()["outcome"] == "answered"
        assert '"thumbs":1' in client.get("/v1/export/feedback").text


def test_without_keys_other_computers_are_not_listened_to(run: Serve) -> None:
    code, errors = run("--host", "0.0.0.0").ended()
    assert code == 2
    assert "citewell keys create" in errors


def test_a_setting_that_is_wrong_is_named(run: Serve) -> None:
    code, errors = run(CITEWELL_SERVER__REDIS_URL="nonsense://x").ended()
    assert code == 2
    assert "The setting server.redis_url is wrong" in errors
    assert "Traceback" not in errors


def test_with_keys_other_computers_may_ask(run: Serve, tmp_path: Path) -> None:
    key = asyncio.run(store_key(tmp_path))
    process = run("--host", "0.0.0.0")
    with process.client() as client:
        assert client.get("/v1/answers").status_code == 401
        assert client.get("/v1/answers", headers=key | {"Host": "any.example"}).status_code == 200
        wrong = {"Authorization": key["Authorization"][:-1] + "~"}
        assert client.get("/v1/answers", headers=wrong).status_code == 401
        assert client.post("/v1/answers", json={"question": BATS}, headers=key).status_code == 201
    process.process.send_signal(signal.SIGTERM)
    assert key["Authorization"].split("_", 2)[2] not in process.ended()[1]


def test_a_port_that_is_taken_is_named(run: Serve) -> None:
    first = run()
    with first.client() as client:
        code, errors = run("--port", str(client.base_url.port)).ended()
    assert code == 1
    assert "in use" in errors


def test_without_its_models_the_service_says_so_and_lives(start: Start) -> None:
    service = start(retriever__encoder="/nowhere")
    assert service.client.get("/health").status_code == 200
    ready = service.client.get("/ready")
    assert ready.status_code == 503
    assert "/nowhere" in ready.json()["parts"]["models"]
    refused = service.ask(BATS)
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/not-ready")


def test_a_database_that_is_missing_at_first_is_used_once_it_is_there(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.write_text("a file in the way")
    service = start(server__database_url=f"sqlite:///{folder / 'citewell.sqlite3'}")
    assert service.client.get("/ready").status_code == 503
    assert service.ask(BATS).status_code == 503
    folder.unlink()
    for _ in range(500):
        if service.client.get("/ready").status_code == 200:
            break
        time.sleep(0.02)
    assert service.ask(BATS).status_code == 201
