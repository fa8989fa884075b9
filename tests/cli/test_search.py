"""`citewell search`, the providers that settings choose, and questions that several providers serve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from citewell.core.errors import InputError, ServiceError
from citewell.core.events import Done, Event, Notice, Searched
from citewell.core.settings import Settings, load_settings
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.chosen_providers import chosen_providers
from citewell.pipeline.providers import filters, open_search
from citewell.retriever.search.query import Query

if TYPE_CHECKING:
    from tests.cli.conftest import Cli, Result
    from tests.conftest import Handler, Serve

Make = Callable[..., Settings]
KEY = "bing-secret-key"


def answering(body: dict[str, Any], status: int = 200, seen: list[web.Request] | None = None) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        if seen is not None:
            seen.append(request)
        return web.json_response(body, status=status)

    return answer


def bing(*urls: str) -> dict[str, Any]:
    results = [{"url": url, "name": f"Bing {url}", "snippet": "From <b>Bing</b>"} for url in urls]
    return {"_type": "SearchResponse", "webPages": {"value": results}}


def searxng(*urls: str) -> dict[str, Any]:
    return {"results": [{"url": url, "title": f"SearXNG {url}", "content": "From SearXNG"} for url in urls]}


SPENT = {"error": {"code": "403", "message": f"Out of call volume quota of {KEY}."}}


@pytest.fixture
async def two(serve: Serve) -> list[str]:
    """Options for two providers, SearXNG and Bing, that find two pages each, one of them the same."""
    base = await serve(
        {
            "/search": answering(searxng("https://a.example/1", "https://both.example/?utm_source=s")),
            "/bing": answering(bing("http://www.both.example/", "https://b.example/2")),
            "/spent": answering(SPENT, 403),
        }
    )
    return [base, "--search", "searxng,bing", "--set", f"search.searxng_url={base}"]


async def run(cli: Cli, *arguments: str, **env: str) -> Result:
    """Run the command while the servers of this process go on."""
    return await asyncio.to_thread(cli.run, *arguments, env=env)


async def test_two_providers_are_one_list(cli: Cli, two: list[str]) -> None:
    base, *options = two
    endpoint = ("--bing-endpoint", f"{base}/bing")
    result = await run(cli, "search", "q", *options, *endpoint, BING_SEARCH_V7_SUBSCRIPTION_KEY=KEY)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "1. Bing http://www.both.example/  [bing, searxng]\n"
        "   http://www.both.example/\n"
        "   From Bing\n"
        "2. SearXNG https://a.example/1  [searxng]\n"
        "   https://a.example/1\n"
        "   From SearXNG\n"
        "3. Bing https://b.example/2  [bing]\n"
        "   https://b.example/2\n"
        "   From Bing\n"
    )


async def test_one_that_fails_is_named_and_the_other_answers(cli: Cli, two: list[str]) -> None:
    base, *options = two
    spent = ("--bing-endpoint", f"{base}/spent", "--set", f"search.bing_key={KEY}")
    result = await run(cli, "search", "q", *options, *spent, "--json")
    assert (result.code, result.err) == (0, "")
    [found] = result.objects()
    assert list(found) == ["query", "hits", "failures", "notices", "timings"]
    assert [hit["url"] for hit in found["hits"]] == [
        "https://a.example/1",
        "https://both.example/?utm_source=s",
    ]
    assert list(found["hits"][0]) == ["url", "title", "snippet", "provider"]
    [failure] = found["failures"]
    assert (failure["url"], failure["kind"]) == ("bing", "quota")
    assert "The Bing endpoint answered 403 Forbidden: Out of call volume quota of ***." in failure["reason"]
    assert set(found["timings"]) == {"searxng", "bing"}
    assert KEY not in result.out

    plain = await run(cli, "search", "q", *options, *spent)
    assert plain.code == 0
    assert plain.err.startswith("bing failed: The Bing endpoint answered 403 Forbidden")
    assert plain.out.startswith("1. SearXNG https://a.example/1")


async def test_all_failed_is_an_error_with_every_reason(cli: Cli, serve: Serve) -> None:
    base = await serve({"/spent": answering(SPENT, 403)})
    spent = ("--bing-endpoint", f"{base}/spent", "--set", f"search.bing_key={KEY}")
    result = await run(cli, "search", "q", "--search", "bing", "--search", "tavily", *spent)
    assert (result.code, result.out) == (1, "")
    assert "All search providers failed. bing: The Bing endpoint answered 403" in result.err
    assert "tavily: The search provider tavily has no API key (not set: TAVILY_API_KEY)" in result.err
    assert KEY not in result.err


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("brave", "BRAVE_API_KEY"),
        ("tavily", "TAVILY_API_KEY"),
        ("serpapi", "SERPAPI_API_KEY"),
        ("google", "GOOGLE_API_KEY and GOOGLE_CSE_ID"),
    ],
)
async def test_a_missing_key_is_named(provider: str, variable: str) -> None:
    async with open_search(load_settings({"search.providers": provider}), {}) as search:
        with pytest.raises(ServiceError, match=variable) as raised:
            await search.metasearch.search(Query("q"))
    assert variable in raised.value.hint
    assert f"search.{provider}_key" in raised.value.hint
    assert "https://" in raised.value.hint


@pytest.mark.parametrize(
    ("flags", "environment", "chosen"),
    [
        ({}, {}, ("wikipedia",)),
        ({}, {"BRAVE_API_KEY": "k", "TAVILY_API_KEY": "k"}, ("brave", "wikipedia")),
        ({"brave_key": "k"}, {"TAVILY_API_KEY": "k"}, ("brave", "wikipedia")),
        ({}, {"SERPAPI_KEY": "k", "TAVILY_API_KEY": "k"}, ("tavily", "wikipedia")),
        ({}, {"SERPAPI_KEY": "k"}, ("serpapi", "wikipedia")),
        ({}, {"GOOGLE_API_KEY": "k"}, ("wikipedia",)),
        ({"google_engine": "cx"}, {"GOOGLE_API_KEY": "k"}, ("google", "wikipedia")),
        ({"searxng_url": "http://s.local"}, {"BRAVE_API_KEY": " "}, ("searxng", "wikipedia")),
        (
            {"searxng_url": "http://s.local"},
            {"BING_SEARCH_V7_ENDPOINT": "http://b.local"},
            ("bing", "wikipedia"),
        ),
        ({"collection": "mine"}, {"BRAVE_API_KEY": "k"}, ("collection",)),
        ({"collection": "handbook"}, {"BRAVE_API_KEY": "k"}, ("collection",)),
        ({"providers": "wikipedia, brave,wikipedia"}, {}, ("wikipedia", "brave")),
        ({"providers": "wikipedia auto"}, {"BRAVE_API_KEY": "k"}, ("wikipedia", "brave")),
        ({"providers": "brave", "collection": "mine"}, {}, ("brave",)),
    ],
)
def test_what_auto_stands_for(
    flags: dict[str, str], environment: dict[str, str], chosen: tuple[str, ...]
) -> None:
    wanted = load_settings({f"search.{name}": value for name, value in flags.items()}).search
    assert chosen_providers(wanted, environment) == chosen


def test_unknown_providers_are_refused() -> None:
    with pytest.raises(InputError, match="Unknown search provider 'altavista'"):
        chosen_providers(load_settings({"search.providers": "brave,altavista"}).search, {})


@pytest.mark.parametrize(("provider", "way"), [("searxng", "SEARXNG_URL"), ("bing", "--bing-endpoint")])
async def test_providers_without_an_address_are_refused(provider: str, way: str) -> None:
    with pytest.raises(InputError, match=f"{provider} needs the address") as raised:
        async with open_search(load_settings({"search.providers": provider}), {}):
            pass
    assert way in raised.value.hint


def test_keys_are_shown_nowhere() -> None:
    names = ("brave", "tavily", "serpapi", "google", "bing")
    settings = load_settings({f"search.{name}_key": KEY for name in names})
    assert settings.search.bing_key.get_secret_value() == KEY
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert KEY not in shown


async def test_options_are_filters(cli: Cli, serve: Serve) -> None:
    seen: list[web.Request] = []
    urls = ["https://reddit.com/r/x", "https://docs.example.org/1", "https://example.com/2"]
    base = await serve({"/search": answering(bing(*urls), seen=seen)})
    result = await run(
        cli,
        *("search", "why?", "--search", "bing", "--limit", "7", "--language", "de", "--country", "at"),
        *("--recency", "week", "--site", "https://Example.org/", "--site", "reddit.com"),
        *("--deny-domains", "webgpt,x.example.org", "--bing-endpoint", f"{base}/search"),
        *("--set", f"search.bing_key={KEY}", "--json"),
    )
    assert result.err == ""
    [found] = result.objects()
    assert [hit["url"] for hit in found["hits"]] == [urls[1]]
    sent = dict(seen[0].query)
    denied = "-site:reddit.com -site:quora.com -site:x.example.org"
    assert sent["q"] == f"why? (site:example.org OR site:reddit.com) {denied}"
    assert (sent["count"], sent["mkt"], sent["freshness"]) == ("7", "de-AT", "Week")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--language", "german"), "search.language"),
        (("--country", "Germany"), "search.country"),
        (("--recency", "hour"), "--recency"),
        (("--site", "not a domain!"), "'domain!' is not a domain"),
        (("--limit", "51"), "search.hits"),
        (("--search", "altavista"), "Use one or more of collection, searxng"),
    ],
)
def test_wrong_options_are_explained(cli: Cli, arguments: tuple[str, str], word: str) -> None:
    code, out, err = cli.run("search", "q", *arguments)
    assert (code, out) == (2, "")
    assert word in err


def test_an_empty_query_is_refused(cli: Cli) -> None:
    code, out, err = cli.run("search", " \n")
    assert (code, out) == (2, "")
    assert "The query is empty" in err


def test_a_collection_is_searched_and_nothing_found_is_said(cli: Cli) -> None:
    code, out, err = cli.run("search", "tides", "--collection", "notes", "--language", "en")
    assert code == 0
    assert out.startswith("1. Tides  [collection:notes]\n   file://")
    assert err == "Note: The collection notes cannot filter by language: its hits are not filtered.\n"
    code, out, err = cli.run("search", "zyzzyva", "--collection", "notes")
    assert (code, out) == (0, "No results.\n")
    assert err == "Note: The collection notes found nothing.\n"


def test_presets_of_domains() -> None:
    query = filters(load_settings({"search.deny_domains": "WebGPT, pinterest.com"}).search)
    assert query.exclude_sites == ("reddit.com", "quora.com", "pinterest.com")


async def events(settings: Settings, question: str) -> list[Event]:
    async with open_pipeline(settings) as pipeline, aclosing(pipeline.ask(question)) as stream:
        return [event async for event in stream]


async def test_a_question_is_answered_from_a_collection_while_the_web_fails(
    settings: Make, serve: Serve
) -> None:
    base = await serve({"/search": answering({"error": "no"}, 403)})
    chosen = settings(
        search__providers="searxng,collection", search__searxng_url=base, search__recency="year"
    )
    stream = await events(chosen, "What causes the tides?")
    done = stream[-1]
    assert isinstance(done, Done)
    assert done.answer.outcome == "answered"
    assert done.answer.references[0].url.startswith("file://")
    [failure] = done.answer.failures
    assert (failure.url, failure.kind) == ("searxng", "bad_answer")
    assert "SearXNG answered 403 Forbidden" in failure.reason
    assert done.answer.models["search"] == "searxng, collection:notes"
    notice = "The collection notes cannot filter by recency: its hits are not filtered."
    assert done.answer.notices == (notice,)
    assert Notice(notice) in stream
    assert next(event for event in stream if isinstance(event, Searched)).failures == (failure,)


async def test_pages_of_a_collection_and_of_the_web_are_read_together(settings: Make, serve: Serve) -> None:
    async def storks(request: web.Request) -> web.Response:
        text = "<p>White storks spend the winter in Africa, south of the Sahara, and come back in spring.</p>"
        return web.Response(text=f"<html><title>Storks</title><main>{text}</main>", content_type="text/html")

    results: list[dict[str, str]] = []

    async def search(request: web.Request) -> web.Response:
        return web.Response(text=json.dumps({"results": results}), content_type="application/json")

    base = await serve({"/search": search, "/storks": storks})
    results.append({"url": f"{base}/storks", "title": "Storks", "content": ""})
    chosen = settings(
        search__providers="collection,searxng",
        search__searxng_url=base,
        fetch__allow_networks="127.0.0.0/8",
        retriever__k=10,
    )
    done = (await events(chosen, "Where do storks spend the winter, and how do bats find their way?"))[-1]
    assert isinstance(done, Done)
    urls = {reference.url for reference in done.answer.references}
    assert f"{base}/storks" in urls
    assert any(url.endswith("/bats.md") for url in urls)


async def test_doctor_says_which_keys_are_set_and_shows_none(cli: Cli) -> None:
    result = cli.run(
        "doctor",
        "--json",
        env={"BRAVE_API_KEY": KEY, "GOOGLE_API_KEY": KEY, "CITEWELL_SEARCH__COLLECTION": "notes"},
    )
    assert KEY not in result.out + result.err
    rows = {row["name"]: row for row in result.objects()}
    assert rows["key of brave"]["found"] == "set"
    assert rows["key of tavily"]["found"] == "not set (optional): TAVILY_API_KEY"
    assert rows["key of google"]["found"] == "not set (optional): GOOGLE_CSE_ID"
    assert rows["search with collection"]["state"] == "ok"
