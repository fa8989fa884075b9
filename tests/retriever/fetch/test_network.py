"""Single requests: every part of an answer is bounded, and only a whole page is one."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import brotli
import pytest
from aiohttp import web
from yarl import URL

from citewell.core.errors import FetchError
from citewell.retriever.fetch.content import page_type
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.network import HttpTransport
from citewell.retriever.fetch.transport import Request

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]
Raw = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
ServeRaw = Callable[[Raw], Awaitable[str]]

LIMITS = FetchLimits(connect_seconds=1, header_seconds=0.3, silence_seconds=0.5, body_bytes=100_000)
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def asking(url: str, cut_at: int | None = None) -> Request:
    return Request(URL(url), {"User-Agent": "Test/1"}, page_type, cut_at)


@pytest.fixture
async def network(guard: AddressGuard) -> AsyncIterator[HttpTransport]:
    async with HttpTransport(LIMITS, guard) as network:
        yield network


def sending(*parts: bytes, then_wait: bool = False) -> Raw:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
        await writer.drain()
        if then_wait:
            await reader.read()

    return answer


def repeating(start: bytes, part: bytes, seconds: float = 0.0) -> Raw:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(seconds)

    return answer


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (repeating(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a", 0.02), "timeout", "no complete header within 0.3 s"),
        (repeating(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.01), "timeout", "no complete header"),
        (
            repeating(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a" * 4096),
            "malformed",
            "not valid HTTP, or its header",
        ),
        (repeating(b"HTTP/1.1 200 OK\r\n", b"X-Many: a\r\n" * 100), "malformed", "not valid HTTP, or its"),
        (repeating(b"HTTP/1.1 200 ", b"OK" * 4096), "malformed", "not valid HTTP"),
        (repeating(HEADER + b"\r\n", b"a" * 5000), "too_large", "larger than 100,000 bytes"),
        (
            repeating(HEADER + b"Transfer-Encoding: chunked\r\n\r\n", b"2000\r\n" + b"a" * 8192 + b"\r\n"),
            "too_large",
            "larger than 100,000 bytes",
        ),
        (sending(HEADER + b"\r\nabc", then_wait=True), "timeout", "sent nothing for 0.5 s"),
        (sending(HEADER + b"Content-Length: 100001\r\n\r\n", then_wait=True), "too_large", "larger than"),
        (sending(HEADER + b"Content-Length: 9\r\n\r\nab"), "malformed", "broke off"),
        (sending(HEADER + b"Content-Length: -1\r\n\r\nab"), "malformed", "not valid HTTP"),
        (sending(HEADER + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab"), "malformed", "broke off"),
        (sending(HEADER + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nab"), "malformed", "broke off|not valid"),
        (sending(HEADER + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0"), "malformed", "broke off"),
        (sending(b"HTTP/1.1 200 OK\r\n\r\n"), "type", "it is empty"),
    ],
)
async def test_an_answer_that_is_no_whole_page(
    serve_raw: ServeRaw, network: HttpTransport, answer: Raw, kind: str, reason: str
) -> None:
    base = await serve_raw(answer)
    started = time.monotonic()
    with pytest.raises(FetchError, match=reason) as raised:
        await network.send(asking(base))
    assert raised.value.kind == kind
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("status", [202, 204, 206, 226, 301, 304, 404, 503])
async def test_no_body_is_read_of_anything_but_a_page(
    serve_raw: ServeRaw, network: HttpTransport, status: int
) -> None:
    header = b"HTTP/1.1 %d Odd\r\nETag: a\r\nETag: b\r\nX-Odd: caf\xe9\r\n\r\n" % status
    reply = sending(header) if status in {204, 304} else repeating(header, b"a" * 9999)
    answer = await network.send(asking(await serve_raw(reply)))
    assert (answer.status, answer.body, answer.content_type) == (status, b"", "")
    assert answer.headers.getall("etag") == ["a", "b"]
    assert answer.headers["x-odd"] == "café"


async def test_more_than_the_declared_length_is_not_read(serve_raw: ServeRaw, network: HttpTransport) -> None:
    base = await serve_raw(sending(HEADER + b"Connection: close\r\nContent-Length: 4\r\n\r\npage and more"))
    # When all of it arrives at once, aiohttp sees that it is malformed.
    (answer,) = await asyncio.gather(network.send(asking(base)), return_exceptions=True)
    assert getattr(answer, "body", b"") == b"page" or getattr(answer, "kind", "") == "malformed"


async def test_a_body_may_be_cut(serve_raw: ServeRaw, network: HttpTransport) -> None:
    base = await serve_raw(repeating(HEADER + b"\r\n", b"0123456789"))
    answer = await network.send(asking(base, cut_at=12_345))
    assert (len(answer.body), answer.truncated) == (12_345, True)
    assert (await network.send(asking(base, cut_at=10**9))).body == b"0123456789" * 10_000
    whole = await serve_raw(sending(HEADER + b"Content-Length: 4\r\n\r\npage"))
    answer = await network.send(asking(whole, cut_at=4))
    assert (answer.body, answer.truncated) == (b"page", False)


async def test_bytes_of_the_wire_are_counted_too(serve_raw: ServeRaw, network: HttpTransport) -> None:
    header = HEADER + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03"
    base = await serve_raw(repeating(header, b"\0\0\0\xff\xff" * 1000))  # blocks of nothing
    with pytest.raises(FetchError, match="larger than 100,000 bytes"):
        await network.send(asking(base))


async def test_requests_wait_for_one_another_and_that_is_no_time_to_connect(
    serve: Serve, guard: AddressGuard
) -> None:
    under_way = most = 0

    async def page(_: web.Request) -> web.Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.1)
        under_way -= 1
        return web.Response(text="a page")

    base = await serve({"/": page})
    limits = FetchLimits(connect_seconds=0.2, header_seconds=0.2, connections=2)
    async with HttpTransport(limits, guard) as network:
        answers = await asyncio.gather(*(network.send(asking(base)) for _ in range(10)))
    assert [answer.body for answer in answers] == [b"a page"] * 10
    assert most == 2


async def test_a_request_is_not_sent_again_when_a_kept_connection_is_lost(guard: AddressGuard) -> None:
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        while await reader.readuntil(b"\r\n\r\n"):
            asked += 1
            if asked == 2:  # the second request of a connection
                break
            writer.write(HEADER + b"Content-Length: 4\r\n\r\npage")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, HttpTransport(LIMITS, guard) as network:
        assert (await network.send(asking(base))).body == b"page"
        with pytest.raises(FetchError, match="closed the connection") as raised:
            await network.send(asking(base))
        assert raised.value.kind == "connect"  # which a question takes as a reason for a second request
    assert asked == 2


@pytest.mark.alone
async def test_bombs_of_the_largest_window_do_not_hold_up_the_loop(serve: Serve, guard: AddressGuard) -> None:
    bomb = brotli.compress(b"kite " * 20_000_000, quality=9, lgwin=24)  # a hundred bytes or so

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=bomb, content_type="text/plain", headers={"Content-Encoding": "br"})

    base = await serve({"/": answer})
    busy: list[float] = []

    async def watch() -> None:
        while True:
            used = time.thread_time()
            await asyncio.sleep(0)
            busy.append(time.thread_time() - used)

    # In a process as large as that of the tests, the collector of garbage takes a quarter of a second.
    gc.collect()
    gc.freeze()
    try:
        async with HttpTransport(FetchLimits(), guard) as network:
            watcher = asyncio.create_task(watch())
            outcomes = await asyncio.gather(
                *(network.send(asking(base)) for _ in range(10)), return_exceptions=True
            )
            watcher.cancel()
    finally:
        gc.unfreeze()
    assert {str(outcome).partition(" The")[0] for outcome in outcomes} == {
        "it is larger than 5,000,000 bytes"
    }
    # One takes about 35 ms, and the loop would take several between two turns.
    assert max(busy) < 0.1


async def test_a_large_page_does_not_hold_up_the_others(serve: Serve, guard: AddressGuard) -> None:
    async def large(request: web.Request) -> web.StreamResponse:
        response = web.Response(body=b"a page of words " * 2_000_000, content_type="text/plain")
        response.enable_compression(web.ContentCoding.gzip)
        return response

    base = await serve({"/": large})
    gaps: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            gaps.append(time.perf_counter() - before)

    async with HttpTransport(FetchLimits(body_bytes=40_000_000, silence_seconds=20), guard) as network:
        task = asyncio.create_task(network.send(asking(base)))
        watcher = asyncio.create_task(watch())
        assert len((await task).body) == 32_000_000
        watcher.cancel()
    assert len(gaps) > 50  # at least two turns of the loop for each mebibyte
