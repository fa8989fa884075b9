"""Searching with Google's Custom Search JSON API, against a server that speaks its wire format."""

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
from citewell.retriever.search.google import GoogleProvider
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from tests.retriever.search.services import Reply, Serving

KEY = "AIza-secret"


def answer(*numbers: int, more: bool = True) -> dict[str, Any]:
    request = {"title": "Google Custom Search - q", "count": len(numbers), "startIndex": 1, "cx": "cx1"}
    items = [
        {
            "kind": "customsearch#result",
            "title": f"Result {n}",
            "htmlTitle": f"<b>Result</b> {n}",
            "link": f"https://example.org/{n}",
            "displayLink": "example.org",
            "snippet": f"Snippet {n} ...",
            "formattedUrl": f"https://example.org/{n}",
        }
        for n in numbers
    ]
    return {
        "kind": "customsearch#search",
        "url": {"type": "application/json"},
        "queries": {"request": [request]} | ({"nextPage": [request]} if more else {}),
        "searchInformation": {"totalResults": str(len(numbers))},
        **({"items": items} if numbers else {}),
    }


def error(code: int, message: str, status: str, reason: str, detail: str = "") -> Reply:
    errors = [{"message": message, "domain": "global", "reason": reason}]
    details = {"details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": detail}]}
    body = {"code": code, "message": message, "errors": errors, "status": status}
    return Reply({"error": body | (details if detail else {})}, code)


async def test_hits_and_the_request(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer(1, 2)))
    provider: SearchProvider = GoogleProvider(http, KEY, "cx1", api.url)
    assert await provider.search(Query("why is the sky blue?", 2)) == [
        Hit("https://example.org/1", "Result 1", "Snippet 1 ...", "google"),
        Hit("https://example.org/2", "Result 2", "Snippet 2 ...", "google"),
    ]
    assert [asked.query for asked in api.asked] == [
        {"key": KEY, "cx": "cx1", "num": "2", "q": "why is the sky blue?"}
    ]


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (Query("q", language="de"), {"lr": "lang_de"}),
        (Query("q", language="zh"), {"lr": "lang_zh-CN"}),
        (Query("q", country="GB"), {"gl": "uk"}),
        (Query("q", recency="day"), {"dateRestrict": "d1"}),
        (Query("q", recency="year"), {"dateRestrict": "y1"}),
        (Query("q", sites=("a.org",)), {"siteSearch": "a.org", "siteSearchFilter": "i"}),
        (Query("q", sites=("a.org", "b.org")), {"q": "q (site:a.org OR site:b.org)"}),
        (Query("q", exclude_sites=("a.org",)), {"q": "q -site:a.org"}),
    ],
)
async def test_filters_are_parameters(
    service: Serving, http: SearchHttp, query: Query, sent: dict[str, str]
) -> None:
    api = await service(Reply(answer(1)))
    provider = GoogleProvider(http, KEY, "cx1", api.url)
    await provider.search(query)
    assert api.asked[0].query == {"key": KEY, "cx": "cx1", "num": "10", "q": "q"} | sent
    assert provider.notices(query) == []


async def test_pages_are_turned_by_their_first_result(service: Serving, http: SearchHttp) -> None:
    api = await service(
        Reply(answer(*range(10))), Reply(answer(*range(10, 20))), Reply(answer(*range(20, 24), more=False))
    )
    assert len(await GoogleProvider(http, KEY, "cx1", api.url).search(Query("q", 50))) == 24
    assert [asked.query.get("start") for asked in api.asked] == [None, "11", "21"]


async def test_nothing_found_is_no_error(service: Serving, http: SearchHttp) -> None:
    api = await service(Reply(answer()))
    assert await GoogleProvider(http, KEY, "cx1", api.url).search(Query("q")) == []


@pytest.mark.parametrize(
    ("key", "engine", "names"),
    [("", "", "GOOGLE_API_KEY and GOOGLE_CSE_ID"), (KEY, "", "GOOGLE_CSE_ID"), ("", "cx1", "GOOGLE_API_KEY")],
)
async def test_both_keys_are_needed(
    service: Serving, http: SearchHttp, key: str, engine: str, names: str
) -> None:
    api = await service(Reply(answer(1)))
    with pytest.raises(ServiceKeyMissingError, match=rf"not set: {names}\)"):
        await GoogleProvider(http, key, engine, api.url).search(Query("q"))
    assert api.asked == []


@pytest.mark.parametrize(
    ("reply", "kind", "word"),
    [
        (
            error(
                400,
                "API key not valid. Please pass a valid API key.",
                "INVALID_ARGUMENT",
                "badRequest",
                "API_KEY_INVALID",
            ),
            ServiceKeyRefusedError,
            "credentials",
        ),
        (
            error(
                403,
                "Custom Search API has not been used in project 1 before or it is disabled.",
                "PERMISSION_DENIED",
                "accessNotConfigured",
                "SERVICE_DISABLED",
            ),
            ServiceKeyRefusedError,
            "enabled",
        ),
        (
            error(
                429,
                "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service "
                "'customsearch.googleapis.com' for consumer 'project_number:1'.",
                "RESOURCE_EXHAUSTED",
                "rateLimitExceeded",
                "RATE_LIMIT_EXCEEDED",
            ),
            ServiceQuotaError,
            "quota",
        ),
        (
            error(
                429,
                "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user'.",
                "RESOURCE_EXHAUSTED",
                "rateLimitExceeded",
            ),
            ServiceRateError,
            "wait",
        ),
        (error(403, "Daily Limit Exceeded", "", "dailyLimitExceeded"), ServiceQuotaError, "quota"),
        (
            error(400, "Request contains an invalid argument.", "INVALID_ARGUMENT", "badRequest"),
            ServiceAnswerError,
            "GOOGLE_CSE_ID",
        ),
        (Reply({"results": []}), ServiceAnswerError, "is the URL of Google"),
        (Reply({"kind": "customsearch#search", "items": "none"}), ServiceAnswerError, "is the URL of Google"),
    ],
)
async def test_refusals(
    service: Serving, http: SearchHttp, reply: Reply, kind: type[ServiceError], word: str
) -> None:
    api = await service(reply)
    with pytest.raises(ServiceError) as raised:
        await GoogleProvider(http, KEY, "cx1", api.url).search(Query("q"))
    assert type(raised.value) is kind
    assert word in raised.value.hint
    assert KEY not in str(raised.value)
