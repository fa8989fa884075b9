"""Searching in a MediaWiki, against a server that speaks its wire format, errors included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from citewell.core.errors import ServiceError
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from citewell.retriever.search.wikipedia import URL, WikipediaProvider, wiki_url

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]

GENERAL = {
    "mainpage": "Main Page",
    "base": "https://en.wikipedia.org/wiki/Main_Page",
    "sitename": "Wikipedia",
    "generator": "MediaWiki 1.46.0-wmf.1",
    "lang": "en",
    "articlepath": "/wiki/$1",
    "scriptpath": "/w",
    "script": "/w/index.php",
    "server": "//en.wikipedia.org",
    "servername": "en.wikipedia.org",
}


@pytest.fixture
def serve_api(serve: Callable[[dict[str, Handler]], Awaitable[str]]) -> Serve:
    """Start a wiki with one handler at `/w/api.php`; return the address of that."""

    async def start(handler: Handler) -> str:
        return await serve({"/w/api.php": handler}) + "/w/api.php"

    return start


def found(title: str, snippet: str = "", page: int = 1) -> dict[str, Any]:
    return {"ns": 0, "title": title, "pageid": page, "snippet": snippet}


def wiki(*results: dict[str, Any], **general: str) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        query = request.query
        assert query["action"] == "query"
        assert query["format"] == "json"
        assert query["formatversion"] == "2"
        answer: dict[str, Any] = {"batchcomplete": True, "query": {}}
        if "siteinfo" in query["meta"]:
            answer["query"]["general"] = GENERAL | general
        if "search" in query["list"]:
            answer["query"]["searchinfo"] = {"totalhits": len(results)}
            answer["query"]["search"] = list(results)[: int(query["srlimit"])]
        return web.json_response(answer)

    return handler


def error(code: str, info: str, status: int = 200) -> Handler:
    async def handler(_: web.Request) -> web.Response:
        body = {"error": {"code": code, "info": info, "docref": "See https://example.org/api.php"}}
        return web.json_response(body, status=status, headers={"MediaWiki-API-Error": code})

    return handler


async def test_hits_with_the_address_of_the_article_and_a_snippet_without_markup(
    serve_api: Serve,
    http: SearchHttp,
) -> None:
    rayleigh = found(
        "Rayleigh scattering",
        '<span class="searchmatch">Blue</span> &amp; &quot;red&quot; light,\n &lt;400 nm',
    )
    provider: SearchProvider = WikipediaProvider(http, await serve_api(wiki(rayleigh, found("Sky"))))
    assert await provider.search(Query("why is the sky blue", 10)) == [
        Hit(
            "http://en.wikipedia.org/wiki/Rayleigh_scattering",
            "Rayleigh scattering",
            'Blue & "red" light, <400 nm',
            "wikipedia",
        ),
        Hit("http://en.wikipedia.org/wiki/Sky", "Sky", "", "wikipedia"),
    ]


@pytest.mark.parametrize(
    ("title", "general", "url"),
    [
        ("C++", {}, "http://en.wikipedia.org/wiki/C%2B%2B"),
        ("AC/DC", {}, "http://en.wikipedia.org/wiki/AC/DC"),
        ("Who? (song)", {}, "http://en.wikipedia.org/wiki/Who%3F_(song)"),
        ("Zürich", {}, "http://en.wikipedia.org/wiki/Z%C3%BCrich"),
        ("天空", {"server": "https://zh.wikipedia.org"}, "https://zh.wikipedia.org/wiki/%E5%A4%A9%E7%A9%BA"),
        (
            "Main & more",
            {"server": "http://wiki.local:8080", "articlepath": "/index.php?title=$1"},
            "http://wiki.local:8080/index.php?title=Main_%26_more",
        ),
    ],
)
async def test_addresses_of_articles(
    serve_api: Serve, http: SearchHttp, title: str, general: dict[str, str], url: str
) -> None:
    (hit,) = await WikipediaProvider(http, await serve_api(wiki(found(title), **general))).search(
        Query("q", 1)
    )
    assert (hit.url, hit.title) == (url, title)


async def test_no_more_than_the_limit_and_nothing_found_is_no_error(
    serve_api: Serve, http: SearchHttp
) -> None:
    many = await serve_api(wiki(*(found(f"Article {n}") for n in range(30))))
    assert [hit.title for hit in await WikipediaProvider(http, many).search(Query("q", 2))] == [
        "Article 0",
        "Article 1",
    ]
    assert await WikipediaProvider(http, await serve_api(wiki())).search(Query("q", 10)) == []


async def test_the_query_arrives_as_it_was_asked(serve_api: Serve, http: SearchHttp) -> None:
    async def echo(request: web.Request) -> web.Response:
        result = found(request.query["srsearch"], request.headers["User-Agent"])
        return web.json_response({"query": {"general": GENERAL, "search": [result]}})

    (hit,) = await WikipediaProvider(http, await serve_api(echo)).search(Query("AT&T = 100% #1 为什么?", 5))
    assert hit.title == "AT&T = 100% #1 为什么?"
    assert hit.snippet.startswith("Citewell/")


async def test_an_error_that_comes_with_status_200(serve_api: Serve, http: SearchHttp) -> None:
    info = "The search backend is too busy."
    with pytest.raises(ServiceError) as raised:
        await WikipediaProvider(http, await serve_api(error("search-backend-error", info))).search(
            Query("q", 10)
        )
    assert f"answered: {info} (search-backend-error)" in raised.value.message
    assert "wait" in raised.value.hint


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (403, "MediaWiki answered 403 Forbidden.", "User-Agent_policy"),
        (429, "MediaWiki answered 429 Too Many Requests.", "wait a minute"),
        (503, "MediaWiki answered 503 Service Unavailable.", "is running"),
    ],
)
async def test_refusals_say_what_to_do(
    serve_api: Serve, http: SearchHttp, status: int, message: str, hint: str
) -> None:
    with pytest.raises(ServiceError) as raised:
        await WikipediaProvider(http, await serve_api(error("refused", "No.", status))).search(Query("q", 10))
    assert raised.value.message == message
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"query": []},
        {"query": {"general": GENERAL}},
        {"query": {"search": []}},
        {"query": {"general": GENERAL, "search": [{"title": None}]}},
        {"error": "unknown"},
    ],
)
async def test_json_of_something_else(serve_api: Serve, http: SearchHttp, answer: dict[str, Any]) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response(answer)

    with pytest.raises(ServiceError, match="did not return a MediaWiki list of results"):
        await WikipediaProvider(http, await serve_api(handler)).search(Query("q", 10))


@pytest.mark.parametrize(
    ("language", "host"),
    [("", "en"), ("de", "de"), ("pt-BR", "pt"), ("zh-Hant", "zh"), ("nb", "no")],
)
def test_language_chooses_the_wikipedia(language: str, host: str) -> None:
    assert wiki_url(URL, Query("q", language=language)) == f"https://{host}.wikipedia.org/w/api.php"


def test_another_wiki_has_one_language_and_says_so(http: SearchHttp) -> None:
    query = Query("q", language="de", country="DE", recency="week", sites=("example.org",))
    own = "http://wiki.local/api.php"
    assert wiki_url(own, query) == own
    assert WikipediaProvider(http, own).notices(query) == [
        "Wikipedia cannot filter by language: its hits are not filtered.",
        "Wikipedia cannot filter by country: its hits are not filtered.",
        "Wikipedia cannot filter by recency: its hits are not filtered.",
        "Wikipedia cannot filter by sites: its hits are filtered after the search.",
    ]
    assert WikipediaProvider(http).notices(Query("q", language="de")) == []


async def test_a_long_question_is_cut_between_words(serve_api: Serve, http: SearchHttp) -> None:
    async def echo(request: web.Request) -> web.Response:
        result = found(request.query["srsearch"])
        return web.json_response({"query": {"general": GENERAL, "search": [result]}})

    query = Query("whales sing " * 100, 5)
    provider = WikipediaProvider(http, await serve_api(echo))
    (hit,) = await provider.search(query)
    assert len(hit.title) <= 300
    assert hit.title.endswith(("whales", "sing"))
    assert provider.notices(query) == ["Wikipedia reads at most 300 characters: the query was truncated."]
