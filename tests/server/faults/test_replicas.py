"""Two services with data folders of their own, one PostgreSQL and one Redis: what one knows, both know."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

from benchmarks.small_service import BATS
from tests.nursery import Nursery
from tests.server.api.test_jobs import SITE, begin, patient
from tests.server.api.test_serve import Serve
from tests.server.faults.conftest import PostgresServer, states, until

if TYPE_CHECKING:
    from tests.conftest import RedisServer

__all__ = ["patient"]

WITHIN = 2.0
"""Seconds after which no replica is behind the others; a busy machine gets as many more in these tests."""


class Replicas(NamedTuple):
    """Two running services, and `citewell` with their settings."""

    first: httpx.Client
    second: httpx.Client
    citewell: Callable[..., str]

    def both(self, method: str, path: str, key: dict[str, str], **more: Any) -> list[httpx.Response]:
        return [client.request(method, path, headers=key, **more) for client in (self.first, self.second)]

    def key(self, *options: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.citewell('keys', 'create', 'a key', *options).strip()}"}


@pytest.fixture
def replicas(
    run: Serve,
    nursery: Nursery,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    collection_data: Path,
    patient: str,
    tmp_path: Path,
) -> Iterator[Replicas]:
    variables = {
        "CITEWELL_SERVER__DATABASE_URL": postgres_server.url,
        "CITEWELL_SERVER__REDIS_URL": redis_server.url,
        "CITEWELL_FETCH__PROXY": patient,
    }

    def citewell(*arguments: str) -> str:
        ran = nursery.run("citewell.cli.main:main", *arguments, env=os.environ | variables, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        return str(ran.stdout)

    with ExitStack() as stack:
        services = []
        for name in ("first", "second"):
            shutil.copytree(collection_data, tmp_path / name)
            services.append(run(CITEWELL_DATA_DIR=str(tmp_path / name), **variables))
        clients = [stack.enter_context(service.client()) for service in services]
        yield Replicas(*clients, citewell)


def within(check: Callable[[], Any]) -> None:
    began = time.monotonic()
    until(check, 2 * WITHIN)
    print(f"after {time.monotonic() - began:.2f} s")  # noqa: T201 - shown where a test fails


def test_replicas_share_keys_and_limits(replicas: Replicas) -> None:
    assert [reply.status_code for reply in replicas.both("GET", "/v1/answers", {})] == [200, 200]
    key = replicas.key("--scope", "ask", "--rate", "6")
    within(lambda: [reply.status_code for reply in replicas.both("GET", "/v1/answers", {})] == [401, 401])
    body = {"question": BATS}
    found = [reply for _ in range(5) for reply in replicas.both("POST", "/v1/retrieve", key, json=body)]
    assert [reply.status_code for reply in found] == [200] * 6 + [429] * 4
    assert [f"r={left}" in found[5 - left].headers["RateLimit"] for left in range(6)] == [True] * 6
    id_ = key["Authorization"].split("_")[1]
    replicas.citewell("keys", "revoke", id_)
    within(lambda: [reply.status_code for reply in replicas.both("GET", "/v1/answers", key)] == [401, 401])


def test_replicas_share_answers_and_what_people_say_of_them(replicas: Replicas) -> None:
    mine, other = replicas.key("--scope", "ask", "--scope", "feedback"), replicas.key("--scope", "ask")
    asked = replicas.first.post("/v1/answers", json={"question": BATS}, headers=mine)
    address = asked.headers["Location"]
    assert replicas.second.get(address, headers=mine).json() == asked.json()
    assert replicas.second.get(address, headers=other).status_code == 404
    again = replicas.second.post("/v1/answers", json={"question": BATS}, headers=mine).headers["Location"]
    replicas.first.headers.update(mine)
    replicas.second.headers.update(mine)
    assert states(replicas.first) == states(replicas.second) == {address: "done", again: "done"}
    assert replicas.second.post(f"{address}/feedback", json={"thumb": 1}).status_code == 201
    assert replicas.second.delete(address).status_code == 204
    assert replicas.first.get(address, headers=mine).status_code == 404


def test_a_job_is_seen_and_cancelled_at_any_replica(replicas: Replicas) -> None:
    replicas.first.headers.update(key := replicas.key("--scope", "admin"))
    address = begin(replicas.first, "kites", SITE)
    waiting = begin(replicas.first, "more", SITE)
    within(lambda: replicas.second.get(address, headers=key).json()["done"] == 1)
    for job in (waiting, address):
        assert replicas.second.delete(job, headers=key).json()["status"] == "cancelled"
    assert replicas.first.get(address).json()["status"] == "cancelled"
    bees = begin(replicas.first, "bees", SITE)  # which runs once the others have ended
    within(lambda: replicas.second.get(bees, headers=key).json()["done"] == 1)
    listed = replicas.second.get("/v1/jobs", headers=key).json()["jobs"]
    assert [job["status"] for job in listed] == ["running", "cancelled", "cancelled"]
