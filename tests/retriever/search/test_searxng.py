"""Searching through SearXNG, against a server that speaks its wire format, refusals included."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from citewell.core.errors import ServiceError
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from citewell.retriever.search.retry import Retry
from citewell.retriever.search.searxng import SearxngProvider

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]


@pytest.fixture
def serve_search(serve: Callable[[dict[str, Handler]], Awaitable[str]]) -> Serve:
    """Start a server with one handler at `/search`; return its address."""

    async def start(handler: Handler) -> str:
        return await serve({"/{prefix:.*}search": handler})

    return start


def result(n: int, **changes: Any) -> dict[str, Any]:
    return {
        "url": f"https://example.org/{n}",
        "title": f"Result {n}",
        "content": f"Snippet {n}",
        "publishedDate": None,
        "thumbnail": None,
        "engine": "duckduckgo",
        "template": "default.html",
        "parsed_url": ["https", "example.org", f"/{n}", "", "", ""],
        "engines": ["duckduckgo", "brave"],
        "positions": [n, n],
        "score": 4.0 / n,
        "category": "general",
    } | changes


def results(*found: dict[str, Any], silent: list[list[str]] | None = None) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        if request.query.get("format") != "json":
            return web.Response(text="<!doctype html>", content_type="text/html")
        return web.json_response(
            {
                "query": request.query["q"],
                "number_of_results": 0,
                "results": list(found),
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": silent or [],
            }
        )

    return handler


def refusing(status: int, body: str, content_type: str = "text/html", **headers: str) -> Handler:
    async def handler(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=body, content_type=content_type, headers=named)

    return handler


async def test_hits_in_order_and_no_more_than_the_limit(serve_search: Serve, http: SearchHttp) -> None:
    base = await serve_search(results(*(result(n) for n in range(1, 21))))
    provider: SearchProvider = SearxngProvider(http, base)
    hits = await provider.search(Query("why is the sky blue?", 3))
    assert hits == [
        Hit(f"https://example.org/{n}", f"Result {n}", f"Snippet {n}", "searxng") for n in (1, 2, 3)
    ]


async def test_the_query_arrives_as_it_was_asked(serve_search: Serve, http: SearchHttp) -> None:
    async def echo(request: web.Request) -> web.Response:
        found = result(1, title=request.query["q"], content=request.headers["User-Agent"])
        return web.json_response({"results": [found]})

    base = await serve_search(echo)
    query = "AT&T + 100% = ? 为什么 #1"
    (hit,) = await SearxngProvider(http, f"{base}/behind/a/proxy/").search(Query(query, 5))
    assert hit.title == query
    assert hit.snippet.startswith("Citewell/")


async def test_results_without_a_page_of_the_web_are_left_out(serve_search: Serve, http: SearchHttp) -> None:
    base = await serve_search(
        results(
            result(1, url="magnet:?xt=urn:btih:0"),
            result(2, url=None),
            result(3, title=None, content=None),
            result(4, title=" Two \n words ", content="a\u00a0 b"),
        )
    )
    assert await SearxngProvider(http, base).search(Query("q", 10)) == [
        Hit("https://example.org/3", "", "", "searxng"),
        Hit("https://example.org/4", "Two words", "a b", "searxng"),
    ]


async def test_nothing_found_is_no_error(serve_search: Serve, http: SearchHttp) -> None:
    assert await SearxngProvider(http, await serve_search(results())).search(Query("q", 10)) == []


async def test_nothing_found_because_no_engine_answered_is_an_error(
    serve_search: Serve, http: SearchHttp
) -> None:
    silent = [["google", "Suspended: CAPTCHA"], ["brave", "timeout"]]
    with pytest.raises(ServiceError, match="google: Suspended: CAPTCHA, brave: timeout") as raised:
        await SearxngProvider(http, await serve_search(results(silent=silent))).search(Query("q", 10))
    assert "settings.yml" in raised.value.hint


async def test_some_engines_may_be_silent(serve_search: Serve, http: SearchHttp) -> None:
    base = await serve_search(results(result(1), silent=[["google", "timeout"]]))
    assert len(await SearxngProvider(http, base).search(Query("q", 10))) == 1


@pytest.mark.parametrize(
    ("handler", "message", "hint"),
    [
        (
            refusing(403, "<!doctype html><title>403 Forbidden</title>"),
            "SearXNG answered 403 Forbidden.",
            "- json",
        ),
        (
            refusing(429, "Too Many Requests", "text/plain", Retry_After="30"),
            "SearXNG answered 429 Too Many Requests (retry after 30).",
            "limiter",
        ),
        (
            refusing(400, json.dumps({"error": "No query"}), "application/json"),
            "SearXNG answered 400 Bad Request: No query.",
            "is running",
        ),
        (
            refusing(500, json.dumps({"error": "search error"}), "application/json"),
            "SearXNG answered 500 Internal Server Error: search error.",
            "is running",
        ),
        (
            refusing(308, "", Location="https://example.org/search"),
            "SearXNG answered 308 Permanent Redirect and points to https://example.org/search.",
            "is running",
        ),
        (
            refusing(200, "<!doctype html><title>Not SearXNG</title>"),
            "SearXNG sent text/html; charset=utf-8 instead of JSON.",
            "is running",
        ),
        (
            refusing(200, '{"results": [', "application/json"),
            "SearXNG sent application/json; charset=utf-8 instead of JSON.",
            "is running",
        ),
    ],
)
async def test_refusals_say_what_to_do(
    serve_search: Serve, http: SearchHttp, handler: Handler, message: str, hint: str
) -> None:
    with pytest.raises(ServiceError) as raised:
        await SearxngProvider(http, await serve_search(handler)).search(Query("q", 10))
    assert raised.value.message == message
    assert hint in raised.value.hint


@pytest.mark.parametrize("body", ["{}", '{"results": null}', '{"hits": []}'])
async def test_json_of_something_else(serve_search: Serve, http: SearchHttp, body: str) -> None:
    base = await serve_search(refusing(200, body, "application/json"))
    with pytest.raises(ServiceError, match="did not return a list of results"):
        await SearxngProvider(http, base).search(Query("q", 10))


async def test_an_instance_that_does_not_run(http: SearchHttp) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening
        base = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ServiceError, match=f"SearXNG at {base}/search cannot be reached"):
            await SearxngProvider(http, base).search(Query("q", 10))


async def test_an_instance_that_does_not_answer(serve_search: Serve) -> None:
    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    async with SearchHttp(Retry(seconds=0.2)) as http:
        with pytest.raises(ServiceError, match=r"did not respond within 0\.[12] s"):
            await SearxngProvider(http, await serve_search(silent)).search(Query("q", 10))


@pytest.mark.parametrize("base_url", ["", "localhost:8888", "http://", "ftp://example.org", "[::"])
async def test_an_address_that_is_none(http: SearchHttp, base_url: str) -> None:
    with pytest.raises(ServiceError) as raised:
        await SearxngProvider(http, base_url).search(Query("q", 10))
    assert "is running" in raised.value.hint
