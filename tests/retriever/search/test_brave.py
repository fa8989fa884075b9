"""Searching with Brave, against a server that speaks its wire format."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceError,
    ServiceKeyMissingError,
    ServiceKeyRefusedError,
    ServiceQuotaError,
    ServiceRateError,
)
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp
from citewell.retriever.search.brave import BraveProvider
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from tests.retriever.search.services import Reply, Serving

KEY = "BSA-secret"


def result(n: int, **changes: Any) -> dict[str, Any]:
    return {
        "title": f"Result {n}",
        "url": f"https://example.org/{n}",
        "is_source_local": False,
        "description": f"About <strong>{n}</strong> &amp; more",
        "page_age": "2026-01-02T03:04:05",
        "profile": {"name": "Example", "url": f"https://example.org/{n}", "long_name": "example.org"},
        "language": "en",
        "family_friendly": True,
        "type": "search_result",
        "subtype": "generic",
    } | changes


def answer(*numbers: int, more: bool = True) -> dict[str, Any]:
    return {
        "query": {"original": "q", "more_results_available": more},
        "type": "search",
        "web": {
            "type": "search",
            "results": [result(n) for n in numbers],
            "family_friendly": True,
        },
    }


def error(status: int, code: str, detail: str, **headers: str) -> Reply:
    body = {
        "type": "ErrorResponse",
        "error": {
            "id": "5d832250-9396-4f6e-b84a-2a1fe524cd7d",
            "status": status,
            "code": code,
            "detail": detail,
            "meta": {"component": "authentication"},
        },
        "time": 1773685964,
    }
    return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


async def test_hits_and_the_request(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1, 2, 3)))
    provider: SearchProvider = BraveProvider(http, KEY, api.url)
    hits = await provider.search(Query("why is the sky blue?", 3))
    assert hits == [
        Hit(f"https://example.org/{n}", f"Result {n}", f"About {n} & more", "brave") for n in (1, 2, 3)
    ]
    (asked,) = api.asked
    assert asked.method == "GET"
    assert asked.headers["X-Subscription-Token"] == KEY
    assert asked.headers["Accept"] == "application/json"
    assert asked.headers["User-Agent"].startswith("Citewell/")
    assert asked.query == {
        "q": "why is the sky blue?",
        "count": "3",
        "offset": "0",
        "text_decorations": "false",
        "result_filter": "web",
    }


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (Query("q", language="de"), {"search_lang": "de", "country": "ALL"}),
        (Query("q", language="de", country="AT"), {"search_lang": "de", "country": "AT"}),
        (Query("q", language="ja"), {"search_lang": "jp", "country": "ALL"}),
        (Query("q", language="zh-TW"), {"search_lang": "zh-hant", "country": "TW"}),
        (Query("q", language="zh"), {"search_lang": "zh-hans", "country": "ALL"}),
        (Query("q", language="pt-BR"), {"search_lang": "pt-br", "country": "BR"}),
        (Query("q", language="en-GB"), {"search_lang": "en-gb", "country": "GB"}),
        (Query("q", country="FR"), {"country": "FR"}),
        (Query("q", recency="week"), {"freshness": "pw"}),
        (Query("q", sites=("a.org",)), {"q": "q site:a.org"}),
        (
            Query("q", sites=("a.org", "b.org"), exclude_sites=("x.a.org",)),
            {"q": "q (site:a.org OR site:b.org) -site:x.a.org"},
        ),
    ],
)
async def test_filters_are_parameters(
    service: Serving, http: SearchHttp, query: Query, sent: dict[str, str]
) -> None:
    api = await service(Reply(answer(1)))
    provider = BraveProvider(http, KEY, api.url)
    await provider.search(query)
    assert sent.items() <= api.asked[0].query.items()
    assert not {"search_lang", "country", "freshness"} - set(sent) & set(api.asked[0].query)
    assert provider.notices(query) == []


def test_what_it_does_not_have_is_said(http: SearchHttp) -> None:
    query = Query("word " * 60, language="sw", country="KE")
    assert BraveProvider(http, KEY).notices(query) == [
        "Brave cannot filter by language: its hits are not filtered.",
        "Brave cannot filter by country: its hits are not filtered.",
        "Brave reads at most 400 characters and 50 words: the query was truncated.",
    ]


async def test_pages_are_turned_until_there_are_enough(service: Serving, http: SearchHttp) -> None:
    pages = [range(20), range(18, 38), range(38, 58)]
    api = await service(*(Reply(answer(*page)) for page in pages))
    hits = await BraveProvider(http, KEY, api.url).search(Query("q", 50))
    assert [hit.title for hit in hits] == [f"Result {n}" for n in range(50)]
    assert [(asked.query["count"], asked.query["offset"]) for asked in api.asked] == [
        ("20", "0"),
        ("20", "1"),
        ("20", "2"),
    ]


async def test_no_page_is_asked_for_that_does_not_exist(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1, 2, more=False)))
    assert len(await BraveProvider(http, KEY, api.url).search(Query("q", 50))) == 2
    assert len(api.asked) == 1


async def test_nothing_found_is_no_error(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply({"query": {"original": "q"}, "type": "search"}))
    assert await BraveProvider(http, KEY, api.url).search(Query("q")) == []


async def test_without_a_key_nothing_is_asked(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1)))
    with pytest.raises(ServiceKeyMissingError, match="BRAVE_API_KEY") as raised:
        await BraveProvider(http, "", api.url).search(Query("q"))
    assert "search.brave_key" in raised.value.hint
    assert api.asked == []


@pytest.mark.parametrize(
    ("reply", "kind", "message", "wait"),
    [
        (
            error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."),
            ServiceKeyRefusedError,
            "Brave answered 422 Unprocessable Entity: The provided subscription token is invalid.",
            None,
        ),
        (
            error(422, "VALIDATION", "Unable to validate request parameter(s)"),
            ServiceAnswerError,
            "Brave answered 422 Unprocessable Entity: Unable to validate request parameter(s).",
            None,
        ),
        (
            error(
                429,
                "RATE_LIMITED",
                "Request rate limit exceeded for plan.",
                X_RateLimit_Remaining="0, 1000",
                X_RateLimit_Reset="1, 1419704",
            ),
            ServiceRateError,
            "Brave answered 429 Too Many Requests: Request rate limit exceeded for plan.",
            1.0,
        ),
        (
            error(
                429,
                "QUOTA_LIMITED",
                "Request quota limit exceeded for plan",
                X_RateLimit_Remaining="1, 0",
                X_RateLimit_Reset="1, 1419704",
            ),
            ServiceQuotaError,
            "Brave answered 429 Too Many Requests: Request quota limit exceeded for plan.",
            1419704.0,
        ),
        (Reply({"unexpected": []}), ServiceAnswerError, "not return a list", None),
        (
            Reply({"type": "search", "web": {"results": {}}}),
            ServiceAnswerError,
            "did not return a list of",
            None,
        ),
    ],
)
async def test_refusals(
    service: Serving,
    http: SearchHttp,
    reply: Reply,
    kind: type[ServiceError],
    message: str,
    wait: float | None,
) -> None:
    api = await service(reply)
    with pytest.raises(ServiceError) as raised:
        await BraveProvider(http, KEY, api.url).search(Query("q"))
    assert type(raised.value) is kind
    assert message in raised.value.message
    assert raised.value.retry_after == wait
    assert raised.value.hint
