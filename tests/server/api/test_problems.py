"""Everything that is refused is a problem of RFC 9457, whatever was sent."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

import lxml.html
import pytest

from benchmarks.small_service import BATS
from citewell.server.problems import known_problems, title_of
from tests.server.api.conftest import Service


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "question"),
        ({"question": ""}, "question"),
        ({"question": 3}, "question"),
        ({"question": BATS, "k": 0}, "k"),
        ({"question": BATS, "k": 21}, "k"),
        ({"question": BATS, "best_of": 99}, "best_of"),
        ({"question": BATS, "collection": "../etc"}, "collection"),
        ({"question": BATS, "recency": "eternity"}, "recency"),
        ({"question": BATS, "unknown": 1}, "unknown"),
        ([], "array"),
        (None, "body"),
    ],
)
def test_a_wrong_value_is_named(service: Service, body: Any, where: str) -> None:
    response = service.client.post("/v1/answers", json=body)
    problem = response.json()
    assert response.status_code == problem["status"] == 400
    assert response.headers["Content-Type"] == "application/problem+json"
    assert where in str(problem["errors"])
    assert problem["instance"] == "/v1/answers"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"question": ' + b"[" * 100_000, 400),
        (b'{"question": ' + b'{"a":' * 100_000, 400),
        (b'{"question": "\\ud800"}', 400),
        (b'{"question": "' + b"a" * 1_000_000 + b'"}', 413),
        (b'{"question": "   "}', 400),
        (b'{"question": "' + b"a" * 5_000 + b'"}', 400),
    ],
)
def test_a_body_that_is_none_is_refused(service: Service, body: bytes, status: int) -> None:
    response = service.client.post("/v1/answers", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == response.json()["status"] == status


def test_a_body_without_a_length_is_cut_off_too(service: Service) -> None:
    def endless() -> Any:
        for _ in range(2_000):
            yield b"a" * 1_000

    response = service.client.post(
        "/v1/answers", content=endless(), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_large_headers_are_refused(service: Service, size: int) -> None:
    response = service.client.get("/health", headers={"X-Large": "a" * size})
    assert response.status_code in (400, 431)


def test_headers_without_an_end_are_not_read_for_ever(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.client.base_url.port or 0), timeout=60) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        reply = b""
        try:
            for number in range(10_000):
                client.sendall(b"X-%d: " % number + b"a" * 1_000 + b"\r\n")
        except OSError:
            pass
        else:
            pytest.fail("ten million bytes of headers were read")
        with suppress(OSError):
            reply = client.recv(100)
    assert not reply or b" 400 " in reply


@pytest.mark.parametrize(
    ("method", "path", "status", "name"),
    [
        ("GET", "/nothing", 404, "not-found"),
        ("GET", "/v1/answers/none", 404, "no-answer"),
        ("PUT", "/v1/answers", 405, "method-not-allowed"),
        ("GET", "/v1/answers?limit=0", 400, "bad-request"),
        ("GET", "/v1/answers?limit=many", 400, "bad-request"),
        ("GET", "/problems/nothing", 404, "not-found"),
    ],
)
def test_an_address_that_is_none_is_a_problem(
    service: Service, method: str, path: str, status: int, name: str
) -> None:
    response = service.client.request(method, path)
    problem = response.json()
    assert (response.status_code, problem["type"]) == (status, f"/problems/{name}")
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path", ["/health", "/nothing", "/v1/answers/none", "/schema", "/v1/export/feedback"]
)
def test_every_reply_has_security_headers(service: Service, path: str) -> None:
    headers = service.client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert "Server" not in headers


@pytest.mark.parametrize("path", ["/v1/answers/none", "/v1/none"])
def test_a_type_of_problem_is_described_at_its_address(service: Service, path: str) -> None:
    problem = service.client.get(path).json()
    described = service.client.get(problem["type"]).json()
    assert described["title"] == problem["title"]
    assert described["status"] == 404


def test_every_type_of_problem_is_a_page_to_a_browser(service: Service) -> None:
    for name, kind in known_problems().items():
        page = service.client.get(f"/problems/{name}", headers={"Accept": "text/html"})
        assert page.headers["Content-Type"].startswith("text/html"), name
        (heading,) = lxml.html.fromstring(page.text).xpath("//main//h1/text()")
        assert heading == title_of(kind)
        assert "`" not in heading, name
    assert service.client.get("/problems/none", headers={"Accept": "text/html"}).status_code == 404
