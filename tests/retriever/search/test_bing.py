"""Searching with an endpoint that speaks Bing's Web Search API v7, against a local one."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceQuotaError,
    ServiceRateError,
)
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp
from citewell.retriever.search.bing import BingProvider
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from tests.retriever.search.services import Reply, Serving

KEY = "0123456789abcdef"


def answer(*numbers: int) -> dict[str, Any]:
    pages = [
        {
            "id": f"https://api.bing.microsoft.com/api/v7/#WebPages.{n}",
            "name": f"Result {n}",
            "url": f"https://example.org/{n}",
            "isFamilyFriendly": True,
            "displayUrl": f"https://example.org/{n}",
            "snippet": f"Snippet {n}",
            "dateLastCrawled": "2026-01-02T03:04:05.0000000Z",
            "language": "en",
        }
        for n in numbers
    ]
    return {
        "_type": "SearchResponse",
        "queryContext": {"originalQuery": "q"},
        **({"webPages": {"webSearchUrl": "https://www.bing.com", "value": pages}} if numbers else {}),
        "rankingResponse": {},
    }


async def test_hits_and_the_request(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1, 2)), path="")
    provider: SearchProvider = BingProvider(http, api.url, KEY)
    assert await provider.search(Query("why is the sky blue?", 2)) == [
        Hit("https://example.org/1", "Result 1", "Snippet 1", "bing"),
        Hit("https://example.org/2", "Result 2", "Snippet 2", "bing"),
    ]
    (asked,) = api.asked
    assert asked.path == "/v7.0/search"
    assert asked.headers["Ocp-Apim-Subscription-Key"] == KEY
    assert asked.query == {
        "q": "why is the sky blue?",
        "count": "2",
        "offset": "0",
        "responseFilter": "Webpages",
    }


async def test_an_endpoint_with_a_path_is_asked_as_it_is_and_may_need_no_key(
    service: Serving, http: SearchHttp
) -> None:
    api = await service(Reply(answer(1)), path="/gateway/bing/v7.0/search")
    await BingProvider(http, api.url).search(Query("q"))
    assert api.asked[0].path == "/gateway/bing/v7.0/search"
    assert "Ocp-Apim-Subscription-Key" not in api.asked[0].headers


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (Query("q", language="de", country="AT"), {"mkt": "de-AT"}),
        (Query("q", language="pt-BR"), {"mkt": "pt-BR"}),
        (Query("q", recency="week"), {"freshness": "Week"}),
        (Query("q", recency="year"), {"freshness": "2025-11-21..2026-11-21"}),
        (Query("q", sites=("a.org",)), {"q": "q site:a.org"}),
        (Query("q", exclude_sites=("a.org",)), {"q": "q -site:a.org"}),
    ],
)
async def test_filters_are_parameters(
    service: Serving, http: SearchHttp, query: Query, sent: dict[str, str]
) -> None:
    api = await service(Reply(answer(1)))
    provider = BingProvider(http, api.url, KEY, today=lambda: date(2026, 11, 21))
    await provider.search(query)
    expected = {"q": "q", "count": "10", "offset": "0", "responseFilter": "Webpages"} | sent
    assert api.asked[0].query == expected
    assert provider.notices(query) == []


@pytest.mark.parametrize(
    ("query", "filters"), [(Query("q", language="de"), "language"), (Query("q", country="DE"), "country")]
)
def test_half_a_market_is_none(http: SearchHttp, query: Query, filters: str) -> None:
    (notice,) = BingProvider(http, "http://bing.local", KEY).notices(query)
    assert notice.startswith(f"Bing cannot filter by {filters}:")
    assert "Give both language and country" in notice


async def test_pages_are_turned_until_nothing_comes(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(*range(30))), Reply(answer()))
    assert len(await BingProvider(http, api.url, KEY).search(Query("q", 80))) == 30
    assert [asked.query["offset"] for asked in api.asked] == ["0", "50"]


async def test_nothing_found_is_no_error(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer()))
    assert await BingProvider(http, api.url, KEY).search(Query("q")) == []


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (
            Reply(
                {
                    "_type": "ErrorResponse",
                    "errors": [
                        {
                            "code": "InvalidAuthorization",
                            "subCode": "AuthorizationMissing",
                            "message": "Authorization is required.",
                            "moreDetails": "Subscription key is not recognized.",
                        }
                    ],
                },
                401,
            ),
            ServiceKeyRefusedError,
            "The Bing endpoint answered 401 Unauthorized: Authorization is required.",
        ),
        (
            Reply(
                {
                    "error": {
                        "code": "401",
                        "message": "Access denied due to invalid subscription key or wrong API endpoint.",
                    }
                },
                401,
            ),
            ServiceKeyRefusedError,
            "401 Unauthorized: Access denied due to invalid subscription key",
        ),
        (
            Reply(
                {
                    "error": {
                        "code": "403",
                        "message": "Out of call volume quota. Quota will be replenished in 11.05:10:00.",
                    }
                },
                403,
            ),
            ServiceQuotaError,
            "Out of call volume quota",
        ),
        (
            Reply(
                {"error": {"code": "429", "message": "Rate limit is exceeded."}}, 429, {"Retry-After": "1"}
            ),
            ServiceRateError,
            "Rate limit is exceeded (retry after 1).",
        ),
        (Reply({"webPages": {"value": []}}), ServiceAnswerError, "did not return a list of results"),
    ],
)
async def test_refusals(
    service: Serving, http: SearchHttp, reply: Reply, kind: type[ServiceError], message: str
) -> None:
    api = await service(reply)
    with pytest.raises(ServiceError) as raised:
        await BingProvider(http, api.url, KEY).search(Query("q"))
    assert type(raised.value) is kind
    assert message in raised.value.message
