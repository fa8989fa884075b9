"""Searching with SerpApi, against a server that speaks its wire format."""

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
from citewell.retriever.search.serpapi import SerpApiProvider
from tests.retriever.search.services import Reply, Serving

KEY = "secret/key+1"
NOTHING = "Google hasn't returned any results for this query."


def answer(*numbers: int, more: bool = True) -> dict[str, Any]:
    results = [
        {
            "position": n,
            "title": f"Result {n}",
            "link": f"https://example.org/{n}",
            "redirect_link": "https://www.google.com/url?sa=t",
            "displayed_link": "https://example.org",
            "snippet": f"Snippet {n}",
            "source": "Example",
        }
        for n in numbers
    ]
    return {
        "search_metadata": {"id": "66", "status": "Success", "json_endpoint": f"https://serpapi.com/{KEY}"},
        "search_parameters": {"engine": "google", "q": "q"},
        "search_information": {"organic_results_state": "Results for exact spelling"},
        "organic_results": results,
        **(
            {"serpapi_pagination": {"current": 1, "next": "https://serpapi.com/search.json?start=10"}}
            if more
            else {}
        ),
    }


async def test_hits_and_the_request(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(*range(1, 11))))
    provider: SearchProvider = SerpApiProvider(http, KEY, api.url)
    hits = await provider.search(Query("why is the sky blue?", 2))
    assert hits == [Hit(f"https://example.org/{n}", f"Result {n}", f"Snippet {n}", "serpapi") for n in (1, 2)]
    assert [asked.query for asked in api.asked] == [
        {"engine": "google", "q": "why is the sky blue?", "api_key": KEY}
    ]


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (Query("q", language="de"), {"hl": "de", "lr": "lang_de"}),
        (Query("q", language="zh-Hant"), {"hl": "zh-TW", "lr": "lang_zh-TW"}),
        (Query("q", country="GB"), {"gl": "uk"}),
        (Query("q", recency="month"), {"tbs": "qdr:m"}),
        (Query("q", sites=("a.org", "b.org")), {"q": "q (site:a.org OR site:b.org)"}),
        (Query("q", exclude_sites=("a.org", "b.org")), {"q": "q -site:a.org -site:b.org"}),
    ],
)
async def test_filters_are_parameters(
    service: Serving, http: SearchHttp, query: Query, sent: dict[str, str]
) -> None:
    api = await service(Reply(answer(1)))
    provider = SerpApiProvider(http, KEY, api.url)
    await provider.search(query)
    assert api.asked[0].query == {"engine": "google", "q": "q", "api_key": KEY} | sent
    assert provider.notices(query) == []


async def test_a_second_page_is_asked_for_where_it_is_needed(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(*range(8))), Reply(answer(*range(8, 18), more=False)))
    assert len(await SerpApiProvider(http, KEY, api.url).search(Query("q", 10))) == 8
    assert len(api.asked) == 1  # each page costs a search
    api = await service(Reply(answer(*range(8))), Reply(answer(*range(8, 18), more=False)))
    assert len(await SerpApiProvider(http, KEY, api.url).search(Query("q", 30))) == 18
    assert [asked.query.get("start") for asked in api.asked] == [None, "10"]


async def test_nothing_found_is_no_error(service: Serving, http: SearchHttp) -> None:
    body = answer() | {"error": NOTHING}
    del body["organic_results"]
    api = await service(Reply(body))
    assert await SerpApiProvider(http, KEY, api.url).search(Query("q")) == []


async def test_without_a_key_nothing_is_asked(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1)))
    with pytest.raises(ServiceKeyMissingError, match="SERPAPI_API_KEY"):
        await SerpApiProvider(http, "", api.url).search(Query("q"))
    assert api.asked == []


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (
            Reply(
                {"error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"},
                401,
            ),
            ServiceKeyRefusedError,
            "SerpApi answered 401 Unauthorized: Invalid API key",
        ),
        (
            Reply({"error": "Your account has run out of searches."}, 429),
            ServiceQuotaError,
            "SerpApi answered 429 Too Many Requests: Your account has run out of searches.",
        ),
        (
            Reply({"error": "You exceeded the hourly throughput limit."}, 429),
            ServiceRateError,
            "exceeded the hourly throughput limit",
        ),
        (Reply({"error": "Your account has been deleted."}, 403), ServiceKeyRefusedError, "403 Forbidden"),
        (
            Reply({"search_metadata": {"status": "Error"}, "error": "We couldn't get valid results."}),
            ServiceAnswerError,
            "SerpApi answered: We couldn't get valid results",
        ),
        (Reply({"hits": []}), ServiceAnswerError, "did not return a list of results"),
        (Reply("<h1>502</h1>"), ServiceAnswerError, "instead of JSON"),
    ],
)
async def test_refusals(
    service: Serving, http: SearchHttp, reply: Reply, kind: type[ServiceError], message: str
) -> None:
    api = await service(reply)
    with pytest.raises(ServiceError) as raised:
        await SerpApiProvider(http, KEY, api.url).search(Query("q"))
    assert type(raised.value) is kind
    assert message in raised.value.message


async def test_the_key_stands_in_no_error(service: Serving, http: SearchHttp) -> None:
    echo = f"Unsupported: api_key={KEY} (secret%2Fkey%2B1)"
    replies = [
        Reply({"error": echo}, 400),
        Reply("", 302, {"Location": "https://serpapi.com/?api_key=secret%2Fkey%2B1"}),
        Reply({"error": echo}),
    ]
    for reply in replies:
        api = await service(reply)
        with pytest.raises(ServiceError) as raised:
            await SerpApiProvider(http, KEY, api.url).search(Query("q"))
        text = f"{raised.value!s} {raised.value!r} {raised.value.__cause__}"
        assert "***" in text
        assert KEY not in text
        assert "secret%2Fkey%2B1" not in text
