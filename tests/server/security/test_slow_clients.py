"""Clients that send or read slowly are given up, and fast ones beside them do not notice."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator

import pytest

from citewell.server.patience import PatientProtocol
from tests.server.api.conftest import Service, Start, make_key

HEAD = b"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
def hasty(start: Start, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service with less patience than usual."""
    monkeypatch.setattr(PatientProtocol, "header_seconds", 0.6)
    monkeypatch.setattr(PatientProtocol, "reply_seconds", 0.6)
    return start()


@pytest.fixture
def connection(hasty: Service) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", hasty.client.base_url.port or 0), timeout=20) as connection:
        yield connection


def drip(connection: socket.socket, pieces: Iterator[bytes], seconds: float = 10) -> bytes:
    """Send a piece every tenth of a second, until the server closes the connection; return what it said."""
    reply = b""
    end = time.monotonic() + seconds
    connection.settimeout(0.1)
    while time.monotonic() < end:
        try:
            connection.sendall(next(pieces))
            piece = connection.recv(65_536)
        except TimeoutError:
            continue
        except OSError:  # closed while this client was sending
            return reply
        if not piece:
            return reply
        reply += piece
    raise AssertionError(f"the connection is still open, after {reply!r}")


def letters() -> Iterator[bytes]:
    while True:
        yield b"a"


def test_headers_that_come_byte_by_byte_end(
    hasty: Service, connection: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "citewell.service")
    connection.sendall(HEAD + b"X-Slow: ")
    assert drip(connection, letters()).startswith(b"HTTP/1.1 408 ")
    assert len(caplog.records) == 1
    assert hasty.client.get("/health").status_code == 200


def test_a_connection_without_a_request_ends(connection: socket.socket) -> None:
    connection.settimeout(10)
    assert connection.recv(1) == b""


def test_the_second_request_of_a_connection_may_not_be_slow_either(connection: socket.socket) -> None:
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert b" 200 " in connection.recv(65_536)
    connection.sendall(HEAD)
    assert b"HTTP/1.1 408 " in drip(connection, letters())


def test_a_body_that_follows_its_refusal_slowly_ends(hasty: Service, connection: socket.socket) -> None:
    make_key(hasty, "ask")  # so that a request without one is refused by its headers
    connection.sendall(HEAD + b"Content-Length: 90000\r\n\r\n")
    assert drip(connection, letters()).startswith(b"HTTP/1.1 401 ")


def test_a_connection_that_is_idle_after_a_refused_body_ends_without_a_word(
    hasty: Service, connection: socket.socket
) -> None:
    make_key(hasty, "ask")
    connection.sendall(HEAD + b"Content-Length: 3\r\n\r\n")
    assert b" 401 " in connection.recv(65_536)
    connection.sendall(b"abc")
    connection.settimeout(10)
    assert b"408" not in b"".join(iter(lambda: connection.recv(65_536), b""))


def test_a_reply_that_is_not_taken_ends(hasty: Service) -> None:
    port = hasty.client.base_url.port or 0
    asking = b"GET /schema/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(("127.0.0.1", port))
        connection.settimeout(20)
        connection.sendall(asking * 100)  # more than all buffers between the two hold
        deadline = time.monotonic() + 20
        while hasty.server.server_state.connections and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not hasty.server.server_state.connections


def test_a_request_in_time_is_answered_however_long_the_work_takes(hasty: Service) -> None:
    for _ in range(3):
        assert hasty.client.get("/health").status_code == 200
        time.sleep(0.3)
    with socket.create_connection(("127.0.0.1", hasty.client.base_url.port or 0), timeout=20) as connection:
        connection.sendall(HEAD + b"Content-Length: 24\r\n\r\n")
        time.sleep(1.2)  # a body has its own limit, which is longer
        connection.sendall(b'{"question": "Why bats"}')
        assert b" 200 " in connection.recv(100)
