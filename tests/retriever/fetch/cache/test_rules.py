"""What RFC 9111 says of one page that is asked for twice, as a table, against a real server."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from citewell.core.errors import FetchError
from citewell.retriever.fetch.cache.directives import Directives
from citewell.retriever.fetch.cache.policy import DAY, HOUR, CachePolicy

if TYPE_CHECKING:
    from conftest import Web

OLD = {"Last-Modified": "{-1000000}"}


@dataclass(frozen=True)
class Case:
    """One page with these headers, asked for again after some seconds; where the second answer comes from."""

    name: str
    headers: dict[str, str]
    after: float
    source: str
    holds: bool = True
    status: int = 200
    renewal: dict[str, str] = field(default_factory=dict)


CASES = (
    # Freshness (§4.2)
    Case("max-age, in time", {"Cache-Control": "max-age=60"}, 50, "cache"),
    Case("max-age, too late", {"Cache-Control": "max-age=60"}, 61, "network"),
    Case("max-age counts more than Expires", {"Cache-Control": "max-age=60", "Expires": "{-5}"}, 50, "cache"),
    Case("max-age in quotes", {"Cache-Control": 'max-age="60"'}, 50, "cache"),
    Case("names in capitals", {"cache-control": "MAX-AGE=60"}, 50, "cache"),
    Case("the first of two max-age", {"Cache-Control": "max-age=60, max-age=0"}, 50, "cache"),
    Case("max-age that is not a number is over", {"Cache-Control": "max-age=soon"}, 1, "network"),
    Case("a negative max-age is over", {"Cache-Control": "max-age=-60"}, 1, "network"),
    Case("a huge max-age ends after a week", {"Cache-Control": "max-age=99999999999999"}, 8 * DAY, "network"),
    Case("a huge max-age", {"Cache-Control": "max-age=99999999999999"}, 6 * DAY, "cache"),
    Case("directives that are not known", {"Cache-Control": 'x="a, no-store", max-age=60'}, 50, "cache"),
    Case("Expires, in time", {"Expires": "{60}"}, 50, "cache"),
    Case("Expires, too late", {"Expires": "{60}"}, 61, "network"),
    Case("Expires that is not a date is over", {"Expires": "0"}, 1, "network"),
    Case("Expires against Date, not the clock", {"Expires": "{-3540}", "Date": "{-3600}"}, 1, "network"),
    Case("s-maxage is for shared caches", {"Cache-Control": "s-maxage=60, max-age=1"}, 50, "network"),
    # Age (§4.2.3)
    Case("Age counts", {"Cache-Control": "max-age=60", "Age": "50"}, 20, "network"),
    Case("Age, in time", {"Cache-Control": "max-age=60", "Age": "30"}, 20, "cache"),
    Case("Date counts", {"Cache-Control": "max-age=60", "Date": "{-50}"}, 20, "network"),
    Case("an Age that is not a number", {"Cache-Control": "max-age=60", "Age": "old"}, 20, "cache"),
    Case("without a Date", {"Cache-Control": "max-age=60", "Date": "nonsense"}, 61, "network"),
    Case("a clock that was set back", {"Cache-Control": "max-age=60"}, -3600, "network"),
    # Heuristics (§4.2.2)
    Case("a tenth of the time since the change", {"Last-Modified": "{-1000}"}, 90, "cache"),
    Case("more than a tenth", {"Last-Modified": "{-1000}"}, 110, "validated"),
    Case("a day at most", OLD | {"Last-Modified": "{-100000000}"}, 25 * HOUR, "validated"),
    Case("nothing is said: five minutes", {}, 290, "cache"),
    Case("nothing is said: over", {}, 310, "network"),
    Case("a permanent redirect", {"Location": "/there"}, 200, "cache", status=301),
    Case("a temporary redirect", {"Location": "/there"}, 1, "network", status=302),
    Case(
        "a temporary redirect that says",
        {"Location": "/there", "Cache-Control": "max-age=9"},
        5,
        "cache",
        status=307,
    ),
    # What is not stored (§3)
    Case("no-store", {"Cache-Control": "no-store, max-age=60"}, 1, "network"),
    Case("no-store in a second field", {"Cache-Control": "max-age=60, No-Store"}, 1, "network"),
    Case("private, in a private cache", {"Cache-Control": "private, max-age=60"}, 1, "cache"),
    Case("Vary: *", {"Cache-Control": "max-age=60", "Vary": "*"}, 1, "network"),
    Case(
        "Vary, on what is the same", {"Cache-Control": "max-age=60", "Vary": "User-Agent, Accept"}, 1, "cache"
    ),
    # Validation (§4.3)
    Case("no-cache is validated", {"Cache-Control": "no-cache, max-age=60", "ETag": '"1"'}, 1, "validated"),
    Case("no-cache, nothing to validate by", {"Cache-Control": "no-cache"}, 1, "network"),
    Case("ETag", {"Cache-Control": "max-age=1", "ETag": '"1"'}, 5, "validated"),
    Case(
        "a weak ETag",
        {"Cache-Control": "max-age=1", "ETag": 'W/"1"'},
        5,
        "validated",
        renewal={"ETag": '"1"'},
    ),
    Case("an ETag that is none", {"Cache-Control": "max-age=1", "ETag": "1"}, 5, "network"),
    Case("Last-Modified", OLD | {"Cache-Control": "max-age=1"}, 5, "validated"),
    Case("a page that changed", {"Cache-Control": "max-age=1", "ETag": '"1"'}, 5, "network", holds=False),
    Case(
        "a 304 of another page",
        {"Cache-Control": "max-age=1", "ETag": '"1"'},
        5,
        "network",
        renewal={"ETag": '"2"'},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_second_answer_comes_from_where_the_rules_say(case: Case, local_web: Web) -> None:
    origin, policy = local_web.origin, CachePolicy()
    origin.headers, origin.status, origin.renewal = case.headers, case.status, case.renewal
    async with local_web.open(policy) as fetcher:
        first = await fetcher.get(local_web.url)
    origin.holds = case.holds
    origin.body = "<p>First.</p>" if case.source in {"cache", "validated"} else "<p>Second.</p>"
    local_web.clock.ahead = case.after
    async with local_web.open(policy) as fetcher:
        second = await fetcher.get(local_web.url)
    if case.status == 200:
        assert second.source == case.source
        assert second.body == origin.body.encode()
    assert (len(origin.asked) == 1) == (case.source == "cache")
    assert (second.url, second.content_type) == (first.url, first.content_type)


async def test_a_304_renews_what_is_stored(local_web: Web) -> None:
    local_web.origin.headers = {"Cache-Control": "max-age=60", "ETag": '"1"', "Age": "30"}
    local_web.origin.renewal = {"Cache-Control": "max-age=600", "Content-Type": "image/png"}
    sources = []
    for ahead in (0, 100, 600, 800):
        local_web.clock.ahead = ahead
        async with local_web.open() as fetcher:
            download = await fetcher.get(local_web.url)
        local_web.origin.holds = True
        sources.append(download.source)
        assert (download.content_type, download.body) == ("text/html", b"<p>First.</p>")
    assert sources == ["network", "validated", "cache", "validated"]
    assert [headers.get("If-None-Match") for headers in local_web.origin.asked] == [None, '"1"', '"1"']


async def test_other_request_headers_get_another_answer_where_the_server_says_so(local_web: Web) -> None:
    local_web.origin.headers = {"Cache-Control": "max-age=60", "Vary": "accept-encoding, USER-AGENT"}
    sources = []
    for agent in ("One", "Two", "Two"):
        async with local_web.open(user_agent=agent) as fetcher:
            sources.append((await fetcher.get(local_web.url)).source)
    assert sources == ["network", "network", "cache"]


@pytest.mark.parametrize(
    ("headers", "after", "status", "is_served"),
    [
        ({"Cache-Control": "max-age=1"}, 10, 503, True),
        ({"Cache-Control": "max-age=1"}, DAY + 10, 503, False),
        ({"Cache-Control": "max-age=1, stale-if-error=60"}, 50, 500, True),
        ({"Cache-Control": "max-age=1, stale-if-error=60"}, 70, 500, False),
        ({"Cache-Control": "max-age=1, stale-if-error=0"}, 10, 503, False),
        ({"Cache-Control": "max-age=1, must-revalidate"}, 10, 503, False),
        ({"Cache-Control": "no-cache", "ETag": '"1"'}, 10, 503, False),
        ({"Cache-Control": "max-age=1, proxy-revalidate"}, 10, 503, True),
        ({"Cache-Control": "max-age=1"}, 10, 429, True),
        ({"Cache-Control": "max-age=1"}, 10, 404, False),
        ({"Cache-Control": "max-age=1"}, 10, 403, False),
    ],
)
async def test_a_stale_page_is_used_while_its_server_fails(
    headers: dict[str, str], after: float, status: int, is_served: bool, local_web: Web
) -> None:
    local_web.origin.headers = headers
    async with local_web.open() as fetcher:
        await fetcher.get(local_web.url)
    local_web.origin.status = status
    local_web.clock.ahead = after
    async with local_web.open() as fetcher:
        if is_served:
            download = await fetcher.get(local_web.url)
            assert (download.source, download.body) == ("stale", b"<p>First.</p>")
        else:
            with pytest.raises(FetchError, match=str(status)):
                await fetcher.get(local_web.url)


async def test_a_page_that_is_gone_is_gone_from_the_cache(local_web: Web) -> None:
    local_web.origin.headers = {"Cache-Control": "max-age=1"}
    for status in (200, 403, 503):
        local_web.origin.status = status
        local_web.clock.ahead += 10
        async with local_web.open() as fetcher:
            if status == 200:
                await fetcher.get(local_web.url)
            else:
                with pytest.raises(FetchError, match=str(status)):
                    await fetcher.get(local_web.url)


async def test_a_404_is_remembered_for_a_while(local_web: Web) -> None:
    local_web.origin.status = 404
    for ahead, asked in ((0, 1), (100, 1), (400, 2)):
        local_web.clock.ahead = ahead
        async with local_web.open() as fetcher:
            with pytest.raises(FetchError, match="404"):
                await fetcher.get(local_web.url)
        assert len(local_web.origin.asked) == asked


@pytest.mark.alone
def test_a_field_of_many_blanks_is_read_at_once() -> None:
    headers = CIMultiDictProxy(CIMultiDict({"Cache-Control": f"a,{' ' * 32_000},max-age=60"}))
    before = time.process_time()
    assert Directives(headers).seconds("max-age") == 60
    assert time.process_time() - before < 0.05
