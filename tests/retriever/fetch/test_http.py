"""One page: what arrives, what is a failure and in which words, and what it may cost at most."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import socket
import ssl
import subprocess
import time
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import brotli
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import TestServer

from citewell.core.errors import FetchError
from citewell.retriever.fetch.decompression import zstd
from citewell.retriever.fetch.download import ContentTypeError, FetchLimits, HttpStatusError
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.page_request import PageRequest

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]
ServeRaw = Callable[[Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]], Awaitable[str]]

PAGE = b"a page " * 2000
PDF_BYTES = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"


def answering(body: bytes = b"", status: int = 200, **headers: str) -> Handler:
    """Make a handler that gives this answer; header names are written with `_` for `-`."""

    async def handler(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body, headers=named)

    return handler


async def test_a_page_arrives_as_bytes_with_its_declared_type(serve: Serve, fetcher: HttpFetcher) -> None:
    body = "<p>Füße</p>".encode("windows-1252")
    base = await serve({"/a": answering(body, Content_Type="text/html; charset=windows-1252")})
    page = await fetcher.get(f"{base}/a?q=1#part")
    assert page.body == body
    assert page.content_type == "text/html; charset=windows-1252"
    assert (page.status, page.url, page.requested) == (200, f"{base}/a?q=1", f"{base}/a?q=1#part")


async def test_says_who_it_is_and_sends_no_cookies(serve: Serve, fetcher: HttpFetcher) -> None:
    async def echo(request: web.Request) -> web.Response:
        response = web.Response(text=f"{request.headers['User-Agent']}|{dict(request.cookies)}")
        response.set_cookie("session", "1")
        return response

    base = await serve({"/": echo})
    await fetcher.get(base)
    assert (await fetcher.get(base)).body.decode().startswith("Citewell/")
    assert (await fetcher.get(base)).body.endswith(b"|{}")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br"])
async def test_compressed_pages_are_decompressed(serve: Serve, fetcher: HttpFetcher, encoding: str) -> None:
    async def compressed(request: web.Request) -> web.Response:
        assert encoding in request.headers["Accept-Encoding"]
        packed = {"gzip": gzip, "deflate": zlib, "br": brotli, "zstd": zstd}[encoding].compress(PAGE)
        return web.Response(body=packed, headers={"Content-Encoding": encoding, "Content-Type": "text/plain"})

    base = await serve({"/": compressed})
    assert (await fetcher.get(base)).body == PAGE


async def test_follows_five_redirects_and_names_the_last_url(serve: Serve, fetcher: HttpFetcher) -> None:
    asked: list[int] = []

    async def step(request: web.Request) -> web.Response:
        left = int(request.match_info["left"])
        asked.append(left)
        if left:
            return web.Response(status=302, headers={"Location": f"{left - 1}"})
        return web.Response(text="arrived")

    base = await serve({"/{left}": step})
    page = await fetcher.get(f"{base}/5")
    assert (page.body, page.url, page.requested) == (b"arrived", f"{base}/0", f"{base}/5")
    asked.clear()
    with pytest.raises(FetchError, match="redirects more than 5 times"):
        await fetcher.get(f"{base}/6")
    assert asked == [6, 5, 4, 3, 2, 1]


async def test_a_redirect_loop_ends(serve: Serve, fetcher: HttpFetcher) -> None:
    base = await serve(
        {
            "/a": answering(status=301, Location="/b"),
            "/b": answering(status=301, Location="/a"),
        }
    )
    with pytest.raises(FetchError, match="redirects more than 5 times"):
        await fetcher.get(f"{base}/a")


@pytest.mark.parametrize(
    "location", ["http://][@", "http://[::g]/", "//[1:2.3]/", "http://%00.1/", "//xn--/"]
)
async def test_a_redirect_to_a_malformed_address(serve: Serve, fetcher: HttpFetcher, location: str) -> None:
    base = await serve({"/": answering(status=302, Location=location)})
    with pytest.raises(FetchError) as raised:
        await fetcher.get(base)
    assert raised.value.kind == "url"


async def test_a_redirect_to_nowhere(serve: Serve, fetcher: HttpFetcher) -> None:
    base = await serve({"/": answering(status=302)})
    with pytest.raises(FetchError, match="302 without saying where to go"):
        await fetcher.get(base)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (202, "202 Accepted"),
        (206, "206 Partial"),
        (304, "304 Not Modified"),
        (404, "404 Not Found"),
        (500, "500 Internal"),
        (599, "599"),
    ],
)
async def test_every_other_status_is_a_failure(
    serve: Serve, fetcher: HttpFetcher, status: int, words: str
) -> None:
    base = await serve({"/": answering(status=status, body=b"<p>Sorry</p>")})
    with pytest.raises(HttpStatusError, match=f"the server answered {words}") as raised:
        await fetcher.get(base)
    assert raised.value.status == status
    assert raised.value.kind == "status"


@pytest.mark.parametrize(
    "declared", ["text/plain", "application/octet-stream", "text/html; charset=utf-8", "image/png"]
)
async def test_a_pdf_is_known_by_its_bytes(serve: Serve, fetcher: HttpFetcher, declared: str) -> None:
    base = await serve({"/paper": answering(PDF_BYTES, Content_Type=declared)})
    page = await fetcher.get(f"{base}/paper")
    assert (page.content_type, page.body) == ("application/pdf", PDF_BYTES)


async def test_a_pdf_may_start_with_other_bytes_when_it_is_declared(
    serve: Serve, fetcher: HttpFetcher
) -> None:
    base = await serve({"/": answering(b"junk\n" + PDF_BYTES, Content_Type="application/pdf")})
    assert (await fetcher.get(base)).content_type == "application/pdf"


@pytest.mark.parametrize(
    ("declared", "body", "words"),
    [
        ("image/png", b"\x89PNG\r\n", "image/png"),
        ("video/mp4", b"\0" * 5000, "video/mp4"),
        ("text/html", b"\x89PNG\r\n\x1a\n" + b"." * 2000, "declared as text/html.*PNG image"),
        ("application/pdf", b"<html>Please sign in</html>", "not those of a PDF"),
        ("", b"PK\x03\x04" + b"." * 2000, "ZIP archive"),
    ],
)
async def test_what_is_not_a_page_of_text(
    serve: Serve, fetcher: HttpFetcher, declared: str, body: bytes, words: str
) -> None:
    base = await serve({"/page.pdf": answering(body, Content_Type=declared)})
    with pytest.raises(ContentTypeError, match=words):
        await fetcher.get(f"{base}/page.pdf")
    assert (await fetcher.get_part(f"{base}/page.pdf")).body == body


async def test_the_body_is_bounded_whether_its_length_is_declared_or_not(
    serve: Serve, guard: AddressGuard
) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            await response.write(b"more " * 2000)

    async def declared(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        response.content_length = 100_001
        await response.prepare(request)
        await asyncio.sleep(30)
        return response

    base = await serve(
        {
            "/declared": declared,
            "/exact": answering(b"x" * 100_000, Content_Type="text/plain"),
            "/over": answering(b"x" * 100_001, Content_Type="text/plain"),
            "/endless": endless,
        }
    )
    async with web_fetcher(FetchLimits(body_bytes=100_000), guard, robots=False) as fetcher:
        assert len((await fetcher.get(f"{base}/exact")).body) == 100_000
        for path in ("/declared", "/over", "/endless"):
            with pytest.raises(FetchError, match="larger than 100,000 bytes"):
                await fetcher.get(f"{base}{path}")


@pytest.mark.parametrize("encoding", ["compress", "gzip, gzip"])
async def test_an_encoding_that_was_not_asked_for(serve: Serve, fetcher: HttpFetcher, encoding: str) -> None:
    base = await serve({"/": answering(b"\x8b\x02\x80", Content_Type="text/html", Content_Encoding=encoding)})
    with pytest.raises(FetchError, match="which was not asked for"):
        await fetcher.get(base)


async def test_a_part_that_is_to_stay_on_its_host_follows_no_redirect_to_another(
    serve: Serve, fetcher: HttpFetcher
) -> None:
    base = await serve({"/secret": answering(b"secret", Content_Type="text/plain")})
    other = base.replace("127.0.0.1", "localhost")
    start = await serve(
        {
            "/same": answering(b"", 302, Location="/file"),
            "/away": answering(b"", 302, Location=f"{other}/secret"),
            "/file": answering(b"file", Content_Type="text/plain"),
        }
    )
    assert (await fetcher.get_part(f"{start}/same", stays=True)).body == b"file"
    with pytest.raises(FetchError, match="redirects to another host, localhost"):
        await fetcher.get_part(f"{start}/away", stays=True)


async def test_a_body_that_is_not_gzip(serve: Serve, fetcher: HttpFetcher) -> None:
    base = await serve({"/": answering(b"plain text", Content_Type="text/html", Content_Encoding="gzip")})
    with pytest.raises(FetchError, match="could not be decompressed"):
        await fetcher.get(base)


async def test_a_silent_server_hits_the_silence_limit(serve: Serve, guard: AddressGuard) -> None:
    async def silent(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        await response.write(b"a")
        await asyncio.sleep(30)
        return response

    base = await serve({"/": silent})
    started = time.monotonic()
    async with web_fetcher(FetchLimits(silence_seconds=0.2), guard, robots=False) as fetcher:
        with pytest.raises(FetchError, match=r"sent nothing for 0\.2 s"):
            await fetcher.get(base)
    assert time.monotonic() - started < 5


async def test_a_server_that_drips_hits_the_total_limit(serve: Serve, guard: AddressGuard) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            await response.write(b".")
            await asyncio.sleep(0.05)

    base = await serve({"/": drip})
    async with web_fetcher(FetchLimits(total_seconds=0.4), guard, robots=False) as fetcher:
        with pytest.raises(FetchError, match=r"no complete answer within 0\.4 s"):
            await fetcher.get(base)


async def test_a_slow_name_server_hits_the_connect_limit(guard: AddressGuard) -> None:
    class SlowResolver(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            await asyncio.sleep(30)
            return []

        async def close(self) -> None:
            return

    limits = FetchLimits(connect_seconds=0.2)
    async with web_fetcher(limits, guard, resolver=SlowResolver(), robots=False) as fetcher:
        with pytest.raises(FetchError, match=r"no connection within 0\.2 s"):
            await fetcher.get("http://slow.test/")


async def test_a_host_that_does_not_exist(fetcher: HttpFetcher) -> None:
    class NoSuchName(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        async def close(self) -> None:
            return

    async with web_fetcher(resolver=NoSuchName(), robots=False) as fetcher:
        with pytest.raises(FetchError, match=r"no host is named nowhere\.test"):
            await fetcher.get("http://nowhere.test/")


@pytest.mark.parametrize("host", ["a..b", "a" * 64, "www." + "b" * 300 + ".test"])
async def test_names_that_no_host_can_have(fetcher: HttpFetcher, host: str) -> None:
    with pytest.raises(FetchError, match="is not the name of a host"):
        await fetcher.get(f"http://{host}/")


async def test_a_refused_connection(fetcher: HttpFetcher) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening
        port = taken.getsockname()[1]
        with pytest.raises(FetchError, match=rf"127\.0\.0\.1 refused the connection on port {port}"):
            await fetcher.get(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "closed the connection"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: image/x\r\nX-Odd: \xff\r\nContent-Length: 1\r\n\r\n.",
            r"its content type is image/x",
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nab", "broke off"),
    ],
)
async def test_servers_that_do_not_keep_to_http(fetcher: HttpFetcher, answer: bytes, words: str) -> None:
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FetchError, match=words):
            await fetcher.get(f"http://127.0.0.1:{port}/")


async def test_https_to_a_server_that_speaks_plain_http(serve: Serve, fetcher: HttpFetcher) -> None:
    base = await serve({"/": answering(b"plain", Content_Type="text/plain")})
    with pytest.raises(FetchError, match=r"no secure connection to 127\.0\.0\.1"):
        await fetcher.get(base.replace("http:", "https:"))


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
async def test_a_self_signed_certificate_is_not_trusted(tmp_path: Path, fetcher: HttpFetcher) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run(
        ["openssl", *request, "-out", certificate, "-keyout", key], check=True, capture_output=True
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    app = web.Application()
    app.router.add_get("/", answering(b"secret", Content_Type="text/plain"))
    server = TestServer(app, scheme="https", host="127.0.0.1")
    await server.start_server(ssl=context)
    try:
        with pytest.raises(FetchError, match=r"certificate of 127\.0\.0\.1 is not valid: self.signed"):
            await fetcher.get(f"https://127.0.0.1:{server.port}/")
    finally:
        await server.close()


async def test_large_headers_are_read(serve: Serve, fetcher: HttpFetcher) -> None:
    policy = "default-src 'self' " * 1500
    page = answering(b"page", Content_Type="text/plain", Content_Security_Policy=policy)
    base = await serve({"/": page})
    assert (await fetcher.get(base)).body == b"page"


async def test_says_when_the_body_begins_to_arrive(serve: Serve, fetcher: HttpFetcher) -> None:
    began: list[str] = []
    go_on = asyncio.Event()

    async def page(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        await response.write(b"a" * 5000)
        await go_on.wait()
        return response

    base = await serve({"/": page, "/missing": answering(status=404, body=b"none")})

    def begins() -> None:
        began.append("page")
        go_on.set()

    assert (await fetcher.fetch(PageRequest(base, on_body=begins))).body == b"a" * 5000
    with pytest.raises(HttpStatusError):
        await fetcher.fetch(PageRequest(f"{base}/missing", on_body=begins))
    assert began == ["page"]


async def test_a_redirect_with_an_endless_body_is_followed(serve: Serve, fetcher: HttpFetcher) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=302, headers={"Location": "/page"})
        await response.prepare(request)
        while True:
            await response.write(b"more " * 2000)

    base = await serve({"/": endless, "/page": answering(b"a page", Content_Type="text/plain")})
    assert (await fetcher.get(base)).body == b"a page"


async def test_an_answer_that_never_comes_to_its_body_hits_the_total_limit(
    serve_raw: ServeRaw, guard: AddressGuard
) -> None:
    async def extending(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
        while True:
            writer.write(b"extension" * 100)
            await writer.drain()
            await asyncio.sleep(0.01)

    base = await serve_raw(extending)
    async with web_fetcher(FetchLimits(total_seconds=0.4), guard, robots=False) as fetcher:
        with pytest.raises(FetchError, match=r"no complete answer within 0\.4 s"):
            await fetcher.get(base)
