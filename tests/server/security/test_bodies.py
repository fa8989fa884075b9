"""No body is too large, too deep or too odd for any address that takes one."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from litestar import Litestar, Request, post
from litestar.middleware import DefineMiddleware

from citewell.core.settings import Settings
from citewell.server.api.bodies import BodyReader, SlowBodyError
from citewell.server.api.problems import reply_to_error
from citewell.server.sockets import listen
from tests.server.api.conftest import make_key, serving
from tests.server.security.test_doors import DOORS

FILES = "/v1/collections/none/documents"  # which takes a form
POSTED = [re.sub(r"{\w+}", "none", door).split(" ")[1] for door in DOORS if door.startswith("POST")]
EMPTY = ("/v1/answers/none/cancel", "/v1/collections/none/refresh")  # which take none
TAKING = [path for path in POSTED if path != FILES and path not in EMPTY]


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("application/x-www-form-urlencoded", b"link=a", 415),
        ("multipart/form-data", b"--a\r\n", 400),
        ("multipart/form-data; boundary=a", b"--a\r\nno header", 400),
        ("multipart/form-data; boundary=a", b"\xff" * 1000, 400),
        (
            "multipart/form-data; boundary=a",
            b'--a\r\nContent-Disposition: form-data; name="file"; f' * 2000,
            400,
        ),
    ],
)
def test_a_form_that_is_none_is_refused(client: httpx.Client, kind: str, body: bytes, status: int) -> None:
    assert client.post(FILES, content=body, headers={"Content-Type": kind}).status_code == status


@pytest.mark.parametrize(
    ("charset", "text"), [(b"utf-8", b"\xff"), (b"none", b"a"), (b"hex", b"61"), (b"idna", b"xn--\xff")]
)
def test_a_field_that_cannot_be_decoded_is_refused(client: httpx.Client, charset: bytes, text: bytes) -> None:
    head = b'--a\r\nContent-Disposition: form-data; name="link"\r\nContent-Type: text/plain; charset='
    body = head + charset + b"\r\n\r\n" + text + b"\r\n--a--\r\n"
    reply = client.post(FILES, content=body, headers={"Content-Type": "multipart/form-data; boundary=a"})
    assert (reply.status_code, "not text in UTF-8" in reply.text) == (400, True), reply.text


@pytest.fixture(scope="module")
def client(settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    """A client that may do everything, so that it is the body that is refused."""
    with serving(settings(server__rate_per_minute=0)) as running:
        running.client.headers.update(make_key(running, "ask", "feedback", "export", "admin"))
        yield running.client


def raw(client: httpx.Client, request: bytes) -> int:
    """The status of the reply to what is sent as it is; 0 where the connection was closed without one."""
    with socket.create_connection(("127.0.0.1", client.base_url.port or 0), timeout=60) as connection:
        connection.sendall(request)
        reply = b""
        while b"\r\n" not in reply and (piece := connection.recv(4096)):
            reply += piece
    return int(reply.split(b" ")[1]) if reply else 0


@pytest.mark.parametrize("path", TAKING)
@pytest.mark.parametrize(
    "deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 300 + "]" * 300], ids=["[", "{", "300"]
)
def test_a_deep_body_is_refused(client: httpx.Client, path: str, deep: str) -> None:
    for body in (deep, '{"question": ' + deep, '{"messages": [' + deep):
        response = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 400, response.text


@pytest.mark.parametrize("path", TAKING)
def test_ten_megabytes_are_refused_before_they_are_sent(client: httpx.Client, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    key = client.headers["Authorization"]
    assert raw(client, f"{head}Authorization: {key}\r\nContent-Length: 10000000\r\n\r\n".encode()) == 413


@pytest.mark.parametrize("path", TAKING)
def test_a_body_says_what_it_is(client: httpx.Client, path: str) -> None:
    for kind in (
        "",
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "application/json5",
    ):
        response = client.post(path, content=b"{}", headers={"Content-Type": kind} if kind else {})
        assert response.status_code == 415, kind


@pytest.mark.parametrize("path", TAKING)
def test_a_body_in_disguise_is_refused(client: httpx.Client, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"\xff\xfe{\x00}\x00", b"\x1f\x8b\x08\x00", b'{"question": NaN}', b'{"a": 1e999}', b"{}{}"):
        assert client.post(path, content=body, headers=headers).status_code == 400, body


@pytest.mark.parametrize("path", TAKING)
def test_a_body_that_is_no_utf_8_is_refused(client: httpx.Client, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    for text in (b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\xf5\x80\x80\x80", b"caf\xe9"):
        body = b'{"question": "' + text + b'", "messages": [{"role": "user", "content": "' + text + b'"}]}'
        for content in (body, iter([body[:15], body[15:]])):
            response = client.post(path, content=content, headers=headers)
            assert (response.status_code, "not valid UTF-8" in response.text) == (400, True), response.text


def test_a_slow_body_ends() -> None:
    @post("/", media_type="text/plain")
    async def echo(request: Request[Any, Any, Any]) -> str:
        return (await request.body()).decode()

    app = Litestar(
        [echo],
        middleware=[DefineMiddleware(BodyReader, seconds=0.3)],
        exception_handlers={SlowBodyError: reply_to_error},
        logging_config=None,
    )
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, http="h11", log_level="critical"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"
        try:
            with socket.create_connection(listening.getsockname(), timeout=20) as connection:
                connection.sendall(head + b'"caf')
                connection.sendall(b"\xc3")  # half of a character
                reply = b""
                while piece := connection.recv(4096):  # until the server closes the connection
                    reply += piece
            assert reply.startswith(b"HTTP/1.1 408 "), reply
            with socket.create_connection(listening.getsockname(), timeout=20) as connection:
                connection.sendall(head + b'"caf\xc3')
                connection.sendall(b'\xa9"')
                assert b"caf\xc3\xa9" in connection.recv(4096) + connection.recv(4096)
        finally:
            server.should_exit = True
            thread.join()


@pytest.mark.parametrize(
    "framing",
    [
        "Content-Length: 2\r\nContent-Length: 30\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +2\r\n",
        "Content-Length: 0x2\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Content-Length : 2\r\n",
        "X-A: 1\r\n Content-Length: 2\r\nX-\x00: 1\r\n",
    ],
)
def test_framing_that_two_readers_understand_differently_is_refused(
    client: httpx.Client, framing: str
) -> None:
    head = "POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    status = raw(client, f"{head}{framing}\r\n{{}}GET /v1/answers HTTP/1.1\r\n\r\n".encode())
    assert status in (0, 400, 413, 501)


@pytest.mark.parametrize("header", ["Authorization", "Host", "Accept", "Last-Event-ID", "Cookie", "Origin"])
def test_huge_headers_are_refused_at_every_address(client: httpx.Client, header: str) -> None:
    for path in ("/", "/v1/answers", "/v1/chat/completions", "/static/site.css"):
        response = client.get(path, headers={header: "a" * 20_000})
        assert response.status_code in (400, 405, 431), (path, response.status_code)


def test_odd_values_in_addresses_are_no_faults(client: httpx.Client) -> None:
    for odd in (
        "%00",
        "%ff%fe",
        "%F0%9F%92%A9",
        "..%2f..%2f",
        "a" * 5_000,
        "'%20OR%201=1--",
        "%E2%80%A8",
        "%25",
    ):
        for path in ("/v1/answers/", "/v1/jobs/", "/v1/models/", "/answers/", "/problems/", "/schema/"):
            status = client.get(f"{path}{odd}").status_code
            assert status in (400, 404), (path, odd, status)
        for name in ("query", "before", "limit"):
            status = client.get(f"/v1/answers?{name}={odd}").status_code
            assert status in (200, 400), (name, odd, status)


def test_a_name_that_is_given_twice_counts_once(client: httpx.Client) -> None:
    body = '{"question": "a", "question": "When was it lit?", "k": 1}'
    response = client.post("/v1/retrieve", content=body, headers={"Content-Type": "application/json"})
    found: dict[str, Any] = json.loads(response.content)
    assert found["question"] == "When was it lit?"
