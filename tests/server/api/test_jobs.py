"""Jobs that wait for a slow site: cancelled over the API, and ended with the service."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.api.conftest import Start, make_key
from tests.server.api.test_serve import Serve, run, store_key
from tests.server.local import ReplyHandler, answering

__all__ = ["run"]

SITE = "http://kites.example/"
_LINKS = "".join(f'<a href="/{n}">a kite</a> ' for n in range(20))


@pytest.fixture
def patient() -> Iterator[str]:
    """A proxy to a site whose robots.txt wants 29 seconds between two pages, which a crawl waits for."""

    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            is_robots = self.path.endswith("/robots.txt")
            page = f"<title>Kites</title><main><h1>Kites</h1><p>A kite flies in the wind.</p>{_LINKS}</main>"
            body = ("User-agent: *\nCrawl-delay: 29\n" if is_robots else page).encode()
            self.reply(body, "text/plain" if is_robots else "text/html")

    with answering(Handler) as url:
        yield url


def begin(client: httpx.Client, name: str, source: str) -> str:
    reply = client.post("/v1/collections", json={"name": name, "source": source})
    assert reply.status_code == 202, reply.text
    return str(reply.headers["Location"])


def until(client: httpx.Client, address: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    end = time.monotonic() + 20
    while not holds(job := client.get(address).json()):
        assert time.monotonic() < end, job
        time.sleep(0.02)
    return dict(job)


def test_jobs_are_cancelled_and_the_next_one_runs(start: Start, patient: str, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "whales.md").write_text("# Whales\n\nMale humpback whales sing for 30 minutes.\n")
    service = start(data_dir=tmp_path / "data", server__sources=sources, fetch__proxy=patient)
    client = service.client
    client.headers.update(make_key(service, "ask", "admin"))
    kites, waiting, whales = (
        begin(client, name, source)
        for name, source in (("kites", SITE), ("more", SITE), ("whales", "whales.md"))
    )
    until(client, kites, lambda job: job["done"] == 1)  # it waits for the second page now
    for address in (waiting, kites):
        cancelled = client.delete(address)
        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert until(client, whales, lambda job: job["status"] != "running")["status"] == "done"
    assert [client.get(address).json()["status"] for address in (kites, waiting)] == ["cancelled"] * 2
    listed = client.get("/v1/collections").json()["collections"]
    assert {one["name"]: one["pages"] for one in listed} == {"kites": 1, "whales": 1}
    again = client.delete(whales)
    assert (again.status_code, again.json()["status"]) == (200, "done")
    assert client.delete("/v1/jobs/none").status_code == 404


def test_a_service_ends_though_a_job_waits(run: Serve, patient: str, tmp_path: Path) -> None:
    variables = {"CITEWELL_FETCH__PROXY": patient, "CITEWELL_DATA_DIR": str(tmp_path / "data")}
    variables |= {"CITEWELL_SEARCH__PROVIDERS": "searxng", "CITEWELL_SEARCH__SEARXNG_URL": patient}
    key = asyncio.run(store_key(tmp_path, "admin"))
    process = run(**variables)
    with process.client() as client:
        client.headers.update(key)
        address = begin(client, "kites", SITE)
        until(client, address, lambda job: job["done"] == 1)
    asked = time.monotonic()
    process.process.send_signal(signal.SIGTERM)
    assert process.ended()[0] in (0, -signal.SIGTERM)
    assert time.monotonic() - asked < 10
    with run(**variables).client() as client:
        assert client.get(address, headers=key).json()["status"] == "interrupted"
