"""Searching with Tavily, against a server that speaks its wire format."""

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
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from citewell.retriever.search.tavily import TavilyProvider
from tests.retriever.search.services import Reply, Serving

KEY = "tvly-secret"


def answer(*numbers: int) -> dict[str, Any]:
    return {
        "query": "q",
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [
            {
                "title": f"Result {n}",
                "url": f"https://example.org/{n}",
                "content": f"Content {n}",
                "score": 1 / (n + 1),
                "raw_content": None,
            }
            for n in numbers
        ],
        "response_time": 0.67,
        "request_id": "123e4567-e89b-12d3-a456-426614174111",
    }


async def test_hits_and_the_request(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1, 2)))
    provider: SearchProvider = TavilyProvider(http, KEY, api.url)
    assert await provider.search(Query("why is the sky blue?", 2)) == [
        Hit("https://example.org/1", "Result 1", "Content 1", "tavily"),
        Hit("https://example.org/2", "Result 2", "Content 2", "tavily"),
    ]
    (asked,) = api.asked
    assert asked.method == "POST"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.body == {"query": "why is the sky blue?", "max_results": 2}


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (Query("q", country="DE"), {"country": "germany", "topic": "general"}),
        (Query("q", country="BA"), {"country": "bosnia and herzegovina", "topic": "general"}),
        (Query("q", country="TR"), {"country": "turkey", "topic": "general"}),
        (Query("q", recency="year"), {"time_range": "year"}),
        (Query("q", sites=("a.org", "b.org")), {"include_domains": ["a.org", "b.org"]}),
        (Query("q", exclude_sites=("a.org",)), {"exclude_domains": ["a.org"]}),
    ],
)
async def test_filters_are_fields(
    service: Serving, http: SearchHttp, query: Query, sent: dict[str, Any]
) -> None:
    api = await service(Reply(answer(1)))
    provider = TavilyProvider(http, KEY, api.url)
    await provider.search(query)
    assert api.asked[0].body == {"query": "q", "max_results": 10} | sent
    assert provider.notices(query) == []


async def test_what_it_does_not_have_is_said(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1)))
    provider = TavilyProvider(http, KEY, api.url)
    query = Query("word " * 200, 50, language="de", country="XX")
    await provider.search(query)
    assert len(api.asked[0].body["query"]) <= 400
    assert api.asked[0].body.keys() == {"query", "max_results"}
    assert api.asked[0].body["max_results"] == 20
    assert provider.notices(query) == [
        "Tavily cannot filter by language: its hits are not filtered.",
        "Tavily cannot filter by country: its hits are not filtered.",
        "Tavily reads at most 400 characters and 400 words: the query was truncated.",
        "Tavily returns at most 20 hits.",
    ]


async def test_nothing_found_is_no_error(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer()))
    assert await TavilyProvider(http, KEY, api.url).search(Query("q")) == []


async def test_without_a_key_nothing_is_asked(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1)))
    with pytest.raises(ServiceKeyMissingError, match="TAVILY_API_KEY"):
        await TavilyProvider(http, "", api.url).search(Query("q"))
    assert api.asked == []


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (
            Reply({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401),
            ServiceKeyRefusedError,
            "Tavily answered 401 Unauthorized: Unauthorized: missing or invalid API key.",
        ),
        (
            Reply({"detail": {"error": "This request exceeds your plan's set usage limit."}}, 432),
            ServiceQuotaError,
            "Tavily answered 432: This request exceeds your plan's set usage limit.",
        ),
        (
            Reply({"detail": {"error": "This request exceeds the pay-as-you-go limit."}}, 433),
            ServiceQuotaError,
            "Tavily answered 433: This request exceeds the pay-as-you-go limit.",
        ),
        (
            Reply({"detail": {"error": "Your request has been blocked due to excessive requests."}}, 429),
            ServiceRateError,
            "excessive requests",
        ),
        (
            Reply({"detail": {"error": "Invalid topic. Must be 'general' or 'news'."}}, 400),
            ServiceAnswerError,
            "Tavily answered 400 Bad Request: Invalid topic. Must be 'general' or 'news'.",
        ),
        (Reply({"query": "q"}), ServiceAnswerError, "did not return a list of results"),
    ],
)
async def test_refusals(
    service: Serving, http: SearchHttp, reply: Reply, kind: type[ServiceError], message: str
) -> None:
    api = await service(reply)
    with pytest.raises(ServiceError) as raised:
        await TavilyProvider(http, KEY, api.url).search(Query("q"))
    assert type(raised.value) is kind
    assert message in raised.value.message
