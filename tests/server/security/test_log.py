"""Requests write one line of the log, which is theirs."""

from __future__ import annotations

import logging
import re
import signal
import socket
import sys
from contextlib import suppress

import pytest

from citewell.server.log_lines import OneLineFormatter
from tests.server.api.conftest import collection_data
from tests.server.api.test_serve import Serve, run

__all__ = ["collection_data", "run"]

_FORGED = "2026-01-01 00:00:00,000 ERROR citewell.service: The key of Ada is citewell_0."


def test_a_message_and_a_traceback_forge_no_line() -> None:
    try:
        raise ValueError(f"bad\n{_FORGED}\u202e")
    except ValueError:
        record = logging.LogRecord(
            "x", logging.ERROR, "", 1, "%s", (f"a\r\n{_FORGED}\x1b[2K\u2028\x85 é",), sys.exc_info()
        )
    first, *others = OneLineFormatter("%(name)s: %(message)s").format(record).splitlines()
    assert first == f"x: a\\r\\n{_FORGED}\\x1b[2K\\u2028\\x85 é"
    assert all(line.startswith("| ") for line in others)
    assert f"| {_FORGED}\\u202e" in others


@pytest.mark.parametrize(
    "path", ["/static/" + "a" * 300, "/static/" + "a" * 300 + "%0a" + "b", "/handbook/" + "a" * 300]
)
def test_a_long_name_is_not_found(run: Serve, path: str) -> None:
    process = run()
    with process.client() as client:
        assert client.get(path).status_code == 404
    process.process.send_signal(signal.SIGTERM)
    assert "Traceback" not in process.ended()[1]


def test_clients_that_leave_write_a_line_each(run: Serve) -> None:
    process = run()
    path = "/v1/answers/%0a" + _FORGED.replace(" ", "%20") + "/feedback"
    with process.client() as client:
        for target in ["/v1/answers"] * 5 + [path]:
            with socket.create_connection(("127.0.0.1", client.base_url.port or 0)) as connection:
                head = f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                connection.sendall(f"{head}Content-Length: 99\r\n\r\n{{".encode())
            assert client.get("/health").status_code == 200
    process.process.send_signal(signal.SIGTERM)
    lines = process.ended()[1].splitlines()
    assert len([line for line in lines if "left in the middle of a body" in line]) == 6
    assert len(lines) < 12
    assert _FORGED not in lines
    assert all(re.match(r"20\d\d-|Citewell|citewell|Open http", line) for line in lines), lines


@pytest.mark.parametrize("request_line", [b"POST /nothing", b"GET /schema/openapi.json"])
def test_bodies_that_are_not_http_write_no_traceback(run: Serve, request_line: bytes) -> None:
    process = run()
    head = request_line + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with process.client() as client:
        with socket.create_connection(("127.0.0.1", client.base_url.port or 0), timeout=20) as connection:
            if request_line.startswith(b"GET"):
                connection.sendall(head)
                connection.recv(100)  # the reply has begun
                head = b""
            connection.sendall(head + b"not the size of a chunk\r\n")
            with suppress(ConnectionError):
                while connection.recv(65_536):
                    pass  # until the service closes the connection
        assert client.get("/health").status_code == 200
    process.process.send_signal(signal.SIGTERM)
    errors = process.ended()[1]
    assert "Traceback" not in errors
    assert "Invalid HTTP request received" in errors
