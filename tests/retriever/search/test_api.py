"""The HTTP path of all providers: retries, time limits, bounds, and what stands in no error."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

import citewell
from citewell.core.errors import (
    ServiceAnswerError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceOfflineError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.retriever.search.api import SearchHttp, Service
from citewell.retriever.search.retry import Retry
from tests.retriever.search.services import Asked, Reply, Serving

OK = Reply({"results": []})


class Time:
    """A clock that sleeping moves on, and the sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def highest(low: float, high: float) -> float:
    """The longest wait that may be drawn."""
    assert low == 0
    return high


@pytest.fixture
def clock() -> Time:
    return Time()


async def ask(api_url: str, clock: Time, draw: Callable[[float, float], float] = highest) -> object:
    retry = Retry(seconds=10.0, draw=draw)
    async with SearchHttp(retry, sleep=clock.sleep, clock=clock) as http:
        return await http.ask(Service("Engine", api_url), {"q": "x"})


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_what_failed_in_passing_is_asked_again(service: Serving, clock: Time, status: int) -> None:
    api = await service(Reply("busy", status), Reply("busy", status), OK)
    assert await ask(api.url, clock) == OK.body
    assert clock.slept == [0.5, 1.0]
    assert len(api.asked) == 3


async def test_the_waits_are_drawn_from_nothing_to_a_growing_limit(service: Serving, clock: Time) -> None:
    limits: list[float] = []

    def draw(low: float, high: float) -> float:
        limits.append(high)
        return 0.25

    api = await service(Reply("busy", 503))
    with pytest.raises(ServiceUnreachableError, match="503 Service Unavailable"):
        await ask(api.url, clock, draw)
    assert (limits, clock.slept, len(api.asked)) == ([0.5, 1.0], [0.25, 0.25], 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_will_not_change_is_not_asked_again(service: Serving, clock: Time, status: int) -> None:
    api = await service(Reply({"error": "no"}, status), OK)
    with pytest.raises(ServiceError):
        await ask(api.url, clock)
    assert (clock.slept, len(api.asked)) == ([], 1)


async def test_the_time_that_the_service_names_is_waited_for(service: Serving, clock: Time) -> None:
    api = await service(Reply("busy", 429, {"Retry-After": "3"}), OK)
    assert await ask(api.url, clock) == OK.body
    assert clock.slept == [3.0]


async def test_a_time_beyond_the_limit_is_not_waited_for(service: Serving, clock: Time) -> None:
    api = await service(Reply("busy", 429, {"Retry-After": "60"}), OK)
    with pytest.raises(ServiceRateError, match=r"\(retry after 60\)") as raised:
        await ask(api.url, clock)
    assert raised.value.retry_after == 60.0
    assert (clock.slept, len(api.asked)) == ([], 1)


async def test_a_name_that_cannot_be_resolved_is_named_at_once(clock: Time) -> None:
    with pytest.raises(ServiceOfflineError) as raised:
        await ask("https://user:secret@engine.invalid/search", clock)
    assert raised.value.message == "Offline? The name engine.invalid cannot be resolved."
    assert "citewell index FOLDER" in raised.value.hint
    assert clock.slept == []


async def test_no_connection_is_tried_again_and_named(clock: Time) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/search"
        with pytest.raises(ServiceUnreachableError, match=f"Engine at {url} cannot be reached"):
            await ask(url, clock)
    assert clock.slept == [0.5, 1.0]


async def test_a_request_that_hangs_leaves_time_for_another(service: Serving) -> None:
    over = asyncio.Event()

    async def hang_once(asked: Asked) -> web.Response:
        if len(api.asked) == 1:
            await over.wait()
        return OK.response()

    api = await service(hang_once)
    async with SearchHttp(Retry(seconds=2.0, base=0.0)) as http:
        assert await http.ask(Service("Engine", api.url)) == OK.body
    over.set()
    assert len(api.asked) >= 2


@pytest.mark.alone
async def test_a_service_that_never_answers_is_given_up_in_time(service: Serving) -> None:
    over = asyncio.Event()

    async def hang(asked: Asked) -> web.Response:
        await over.wait()
        return OK.response()

    api = await service(hang)
    started = time.monotonic()
    async with SearchHttp(Retry(seconds=0.6, base=0.0)) as http:
        with pytest.raises(ServiceUnreachableError, match=r"did not respond within 0\.[36] s"):
            await http.ask(Service("Engine", api.url))
    over.set()
    assert time.monotonic() - started < 2


async def test_an_answer_is_read_up_to_a_limit(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply({"results": "x" * 6_000_000}))
    with pytest.raises(ServiceAnswerError, match="more than 5,000,000 bytes"):
        await http.ask(Service("Engine", api.url))


async def test_an_answer_that_breaks_off_is_unreachable(http: SearchHttp) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"results": [')
        writer.close()

    async with await asyncio.start_server(cut, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ServiceUnreachableError, match="Engine closed the connection"):
            await http.ask(Service("Engine", f"http://127.0.0.1:{port}/"))


@pytest.mark.parametrize("body", ["", "[]", "null", "12", '"text"', "{", "[" * 100_000])
async def test_anything_but_a_json_object_is_a_bad_answer(
    service: Serving, http: SearchHttp, body: str
) -> None:
    api = await service(Reply(body))
    with pytest.raises(ServiceAnswerError, match="instead of JSON"):
        await http.ask(Service("Engine", api.url))


async def test_redirects_are_not_followed(service: Serving, http: SearchHttp) -> None:
    other = await service(OK)
    api = await service(Reply("", 302, {"Location": other.url}))
    with pytest.raises(ServiceAnswerError, match="302 Found and points to"):
        await http.ask(Service("Engine", api.url))
    assert other.asked == []


async def test_credentials_of_an_address_stand_in_no_error(http: SearchHttp) -> None:
    service = Service("Engine", "http://user:pass@127.0.0.1:1/search", secrets=("key/1",))
    with pytest.raises(ServiceUnreachableError) as raised:
        await http.ask(service, {"api_key": "key/1"})
    text = f"{raised.value} {raised.value.__cause__!r} {service!r}"
    assert "pass" not in str(raised.value)
    assert "key/1" not in text
    assert "key%2F1" not in text


async def test_a_key_that_no_header_can_hold_is_refused(service: Serving, http: SearchHttp) -> None:
    api = await service(OK)
    with pytest.raises(ServiceKeyRefusedError) as raised:
        await http.ask(Service("Engine", api.url, secrets=("a\nb",)), headers={"X-Key": "a\nb"})
    assert "a\nb" not in str(raised.value)
    assert api.asked == []


# getaddrinfo that hangs, as with a name server that does not answer.
HANGING = """
import asyncio, socket, threading
from citewell.core.errors import ServiceUnreachableError
from citewell.retriever.search.api import SearchHttp, Service
from citewell.retriever.search.retry import Retry

socket.getaddrinfo = lambda *_: threading.Event().wait()

async def main():
    async with SearchHttp(Retry(seconds=0.6, tries=1)) as http:
        try:
            await http.ask(Service("Engine", "http://engine.example/"))
        except ServiceUnreachableError as error:
            print(error.message)

asyncio.run(main())
"""


def test_a_name_server_that_does_not_answer_does_not_hold_up_the_end() -> None:
    root = Path(citewell.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", HANGING], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "Engine did not respond within 0.3 s.\n"), done.stderr
