"""No field of a request makes the service ask an address of this computer or of its network."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from citewell.core.settings import Settings
from tests.server.api.conftest import Service, make_key, serving
from tests.server.security.conftest import Listener, listening

SPELLINGS = (
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://localhost.:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://127.1:{port}/",
    "http://0:{port}/",
    "http://0.0.0.0:{port}/",
    "http://127.0.0.1:{port}/#@example.org/",
    "http://example.org@127.0.0.1:{port}/",
    "http://\u2460\u2461\u2466.0.0.1:{port}/",
    "http://127\u30020\u30020\u30021:{port}/",
    "HTTP://LOCALHOST:{port}/",
    "http://127.0.0.1:{port}\\@example.org/",
    "gopher://127.0.0.1:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.168.0.1:{port}/",
)
"""Ways to write an address of this computer or of its network; `{port}` is one that listens."""


class Searching(NamedTuple):
    """A service that crawls, fetches and asks a search engine, and a key that may do everything."""

    service: Service
    key: dict[str, str]
    engine: Listener


@pytest.fixture(scope="module")
def inside(canary: Listener) -> list[str]:
    port = canary.url.rpartition(":")[2]
    return [spelling.replace("{port}", port) for spelling in SPELLINGS]


@pytest.fixture(scope="module")
def searching(
    settings: Callable[..., Settings], inside: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searching]:
    """Its search engine finds nothing but addresses of this computer."""
    hits = [{"url": url, "title": "Bats", "content": "Bats sing."} for url in inside]
    data_dir = tmp_path_factory.mktemp("searching")
    with listening(lambda sent: json.dumps({"results": hits}).encode()) as engine:
        wanted = settings(
            data_dir=data_dir,
            search__providers="searxng",
            search__searxng_url=engine.url,
            search__hits=50,
            search__per_domain=50,
            server__rate_per_minute=0,
            server__sources=data_dir / "sources",
        )
        with serving(wanted) as service:
            yield Searching(service, make_key(service, "ask", "feedback", "admin"), engine)


def test_pages_that_a_search_finds_are_not_read_from_inside(searching: Searching, canary: Listener) -> None:
    response = searching.service.client.post(
        "/v1/answers", json={"question": "Do bats sing?"}, headers=searching.key
    )
    answer = response.json()
    assert answer["outcome"] == "no_evidence", answer
    assert answer["references"] == []
    assert {failure["kind"] for failure in answer["failures"]} <= {"address", "url", "port"}, answer[
        "failures"
    ]
    assert searching.engine.asked
    assert canary.asked == []


def test_sources_of_collections_are_not_read_from_inside(
    searching: Searching, inside: list[str], canary: Listener
) -> None:
    client = searching.service.client
    for url in inside[::2]:
        body = {"name": "inside", "source": url}
        taken = client.post("/v1/collections", json=body, headers=searching.key)
        assert taken.status_code in (202, 400), (url, taken.text)
        if taken.status_code == 202:
            assert _ended(searching, taken.headers["Location"])["status"] == "failed", url
    assert canary.asked == []
    assert client.get("/v1/collections", headers=searching.key).json()["collections"] == []


def _ended(searching: Searching, address: str) -> dict[str, Any]:
    for _ in range(1_000):
        job: dict[str, Any] = searching.service.client.get(address, headers=searching.key).json()
        if job["status"] != "running":
            return job
        time.sleep(0.01)  # a job says by its state alone that it has ended
    raise AssertionError(f"the job is still running: {job}")


def test_what_is_only_stored_is_not_fetched(
    searching: Searching, inside: list[str], canary: Listener
) -> None:
    ratings = dict.fromkeys(("usefulness", "coherence", "unsupported", "overall"), 0)
    for url in inside:
        answers = [{"text": url, "references": [url]}, {"text": f"![x]({url})"}]
        body = {"question": url, "answers": answers, "comment": url} | ratings
        reply = searching.service.client.post("/v1/comparisons", json=body, headers=searching.key)
        assert reply.status_code == 201
    assert canary.asked == []


def test_sites_and_settings_of_a_question_name_no_other_server(
    searching: Searching, canary: Listener
) -> None:
    client, key = searching.service.client, searching.key
    question = {"question": "Do bats sing?", "fresh": True}
    for site in ("127.0.0.1", canary.url, f"{canary.url}/x", "localhost", "[::1]", "\r\nX: y"):
        reply = client.post("/v1/answers", json=question | {"sites": [site]}, headers=key)
        assert reply.status_code in (201, 400), reply.text
    for field in ("searxng_url", "search", "base_url"):
        reply = client.post("/v1/answers", json=question | {field: canary.url}, headers=key)
        assert reply.status_code == 400, field
    assert canary.asked == []


def test_images_and_files_of_a_chat_are_not_fetched(searching: Searching, canary: Listener) -> None:
    text = {"type": "text", "text": "Do bats sing?"}
    for part in (
        {"type": "image_url", "image_url": {"url": f"{canary.url}/image.png"}},
        {"type": "file", "file": {"file_id": canary.url, "file_data": canary.url}},
        {"type": "input_audio", "input_audio": {"data": canary.url, "format": "mp3"}},
    ):
        for more in ({}, {"base_url": canary.url, "web_search_options": {"user_location": canary.url}}):
            body = {"model": "citewell", "messages": [{"role": "user", "content": [text, part]}]} | more
            reply = searching.service.client.post("/v1/chat/completions", json=body, headers=searching.key)
            assert reply.status_code in (200, 400), reply.text
    assert canary.asked == []


def test_headers_of_a_request_name_no_server_to_ask(searching: Searching, canary: Listener) -> None:
    host = canary.url.removeprefix("http://")
    names = ("X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded", "Referer", "Origin", "Proxy")
    headers = searching.key | {name: f"host={host}" if name == "Forwarded" else host for name in names}
    reply = searching.service.client.post("/v1/answers", json={"question": "Do bats sing?"}, headers=headers)
    assert host not in reply.headers.get("Location", "")
    assert canary.asked == []
