"""Searching with DuckDuckGo: the real package against a local server, and its errors."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from ddgs import DDGS
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceError,
    ServiceOfflineError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.core.types import Hit
from citewell.retriever.search.ddgs import DdgsProvider
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query

RESULT = """
<div class="result results_links results_links_deep web-result">
  <div class="links_main links_deep result__body">
    <h2 class="result__title"><a rel="nofollow" class="result__a" href="{url}">{title}</a></h2>
    <div class="result__extras"><div class="result__extras__url"></div></div>
    <a class="result__snippet" href="{url}">{snippet}</a>
    <div class="clear"></div>
  </div>
</div>
"""


def result_page(*numbers: int) -> str:
    results = "".join(
        RESULT.format(
            url=f"https://example.org/{n}", title=f"Sky &amp; sea {n}", snippet=f"Why the <b>sky</b> is {n}"
        )
        for n in numbers
    )
    return f'<html><body><div id="links" class="results">{results}</div></body></html>'


class DuckDuckGo:
    """A proxy that answers in the place of every host, with a certificate of its own."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self.page = result_page(1, 2)
        self.status = 200
        self.forms: list[tuple[str, dict[str, str]]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connect = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert connect.startswith("CONNECT html.duckduckgo.com:443 ")
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.start_tls(self._context)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        form = (await reader.readexactly(int(fields["content-length"]))).decode()
        self.forms.append((head.split("\r\n")[0], dict(parse_qsl(form))))
        body = self.page.encode()
        header = f"HTTP/1.1 {self.status} X\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(header.encode() + body)
        await writer.drain()
        writer.close()


@pytest.fixture
async def duckduckgo(tmp_path: Path) -> AsyncIterator[tuple[DuckDuckGo, DdgsProvider]]:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=duckduckgo.com"]
    subprocess.run(
        ["openssl", *request, "-out", certificate, "-keyout", key], check=True, capture_output=True
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["http/1.1"])
    engine = DuckDuckGo(context)
    async with await asyncio.start_server(engine.serve, "127.0.0.1", 0) as server:
        proxy = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield engine, DdgsProvider(connect=lambda seconds: DDGS(proxy=proxy, timeout=5, verify=False))


async def test_result_pages_are_read(duckduckgo: tuple[DuckDuckGo, DdgsProvider]) -> None:
    engine, provider = duckduckgo
    query = Query("why is the sky blue?", 2, language="de", country="AT", recency="week", sites=("a.org",))
    assert await provider.search(query) == [
        Hit(f"https://example.org/{n}", f"Sky & sea {n}", f"Why the sky is {n}", "ddgs") for n in (1, 2)
    ]
    [(line, form)] = engine.forms
    assert line == "POST /html/ HTTP/1.1"
    assert form == {"q": "why is the sky blue? site:a.org", "l": "at-de", "df": "w"}


@pytest.mark.parametrize(("page", "status"), [(result_page(), 200), ("<html>Slow down</html>", 202)])
async def test_nothing_found_and_refused_look_alike(
    duckduckgo: tuple[DuckDuckGo, DdgsProvider], page: str, status: int
) -> None:
    engine, provider = duckduckgo
    engine.page, engine.status = page, status
    assert await provider.search(Query("q")) == []


class Engine:
    """Stands in for `DDGS`; keeps what it was asked."""

    def __init__(self, outcome: list[dict[str, Any]] | Exception) -> None:
        self._outcome = outcome
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def text(self, query: str, **options: Any) -> list[dict[str, Any]]:
        self.asked.append((query, options))
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


@pytest.mark.parametrize(
    ("query", "region"),
    [
        (Query("q"), "wt-wt"),
        (Query("q", language="de"), "wt-wt"),
        (Query("q", language="de", country="DE"), "de-de"),
        (Query("q", language="en-GB"), "uk-en"),
        (Query("q", language="ja", country="JP"), "jp-jp"),
        (Query("q", language="zh-TW"), "tw-tzh"),
    ],
)
async def test_regions(query: Query, region: str) -> None:
    engine = Engine([])
    provider: SearchProvider = DdgsProvider(connect=lambda seconds: engine)
    await provider.search(query)
    [(_, options)] = engine.asked
    assert options == {"region": region, "timelimit": None, "max_results": 10, "backend": "duckduckgo"}


def test_what_it_does_not_have_is_said() -> None:
    notices = DdgsProvider().notices(Query("q", language="de", sites=("a.org", "b.org")))
    assert notices == [
        "DuckDuckGo cannot filter by language: its hits are not filtered.",
        "DuckDuckGo cannot filter by sites: its hits are filtered after the search.",
    ]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RatelimitException("202"), ServiceRateError),
        (TimeoutException("timed out"), ServiceUnreachableError),
        (DDGSException("ConnectError: ConnectError('no route')"), ServiceUnreachableError),
        (DDGSException("Document is empty"), ServiceAnswerError),
    ],
)
async def test_errors(error: Exception, kind: type[ServiceError]) -> None:
    with pytest.raises(ServiceError) as raised:
        await DdgsProvider(connect=lambda seconds: Engine(error)).search(Query("q"))
    assert type(raised.value) is kind
    assert raised.value.hint


async def test_a_search_that_is_given_up_holds_nobody_up() -> None:
    asked, over = threading.Event(), threading.Event()

    class Stuck:
        def text(self, query: str, **options: Any) -> list[dict[str, Any]]:
            asked.set()
            over.wait(30)
            return []

    search = asyncio.create_task(DdgsProvider(connect=lambda seconds: Stuck()).search(Query("q")))
    while not asked.is_set():
        await asyncio.sleep(0)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    over.set()


async def test_a_name_that_cannot_be_resolved_means_offline() -> None:
    text = "DNSError: DNSError('error sending request for url (https://html.duckduckgo.com/html/) > error \
resolving DNS > DNS error: no records found')"
    provider = DdgsProvider(connect=lambda seconds: Engine(DDGSException(text)))
    with pytest.raises(ServiceOfflineError) as raised:
        await provider.search(Query("q"))
    assert raised.value.message == "Offline? The name html.duckduckgo.com cannot be resolved."
