"""Several providers at once: fusion, failures, time limits and the breaker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from citewell.core.errors import (
    CitewellError,
    ServiceError,
    ServiceKeyMissingError,
    ServiceOfflineError,
    ServiceQuotaError,
    ServiceUnreachableError,
)
from citewell.core.types import Failure, Hit
from citewell.retriever.search.fusion import fuse
from citewell.retriever.search.metasearch import Metasearch, SearchLimits
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Query


class Provider:
    """Answers with hits or with an error, at once or when an event is set."""

    def __init__(
        self,
        name: str,
        *urls: str,
        error: CitewellError | None = None,
        scope: Scope = "web",
        when: asyncio.Event | None = None,
        notices: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.scope = scope
        self.asked: list[Query] = []
        self.cancelled = False
        self.hits = [Hit(url, f"{name} {n}", "", name) for n, url in enumerate(urls, start=1)]
        self._error = error
        self._when = when
        self._notices = list(notices)

    def notices(self, query: Query) -> list[str]:
        return self._notices

    async def search(self, query: Query) -> list[Hit]:
        self.asked.append(query)
        if self._when:
            try:
                await self._when.wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        if self._error:
            raise self._error
        return self.hits[: query.limit]


def pages(*paths: str, host: str = "example.org") -> list[str]:
    return [f"https://{host}/{path}" for path in paths]


def fused(
    *providers: Provider, limit: int = 10, per_domain: int = 100, sites: tuple[str, ...] = ()
) -> list[Hit]:
    lists = [(provider, provider.hits) for provider in providers]
    return fuse(lists, Query("q", limit, sites=sites), per_domain)


def test_what_several_providers_find_comes_first() -> None:
    one = Provider("one", *pages("a", "b", "c"))
    two = Provider("two", *pages("d", "c", "e"))
    hits = fused(one, two)
    assert [hit.url.rpartition("/")[2] for hit in hits] == ["c", "a", "d", "b", "e"]
    assert [hit.provider for hit in hits][:2] == ["two, one", "one"]
    assert len(fused(one, two, limit=2)) == 2


def test_reciprocal_ranks_are_summed_with_a_constant_of_60() -> None:
    # Ranks 1 and 40 against 12 and 13: 1/61 + 1/100 = .0264 and 1/72 + 1/73 = .0276. Without the constant,
    # the first would win by far.
    one = pages(*(f"x{n}" for n in range(40)), host="x.example")
    two = pages(*(f"y{n}" for n in range(40)), host="y.example")
    one[0], two[39], one[11], two[12] = pages("uneven", "uneven", "even", "even")
    hits = fused(Provider("one", *one), Provider("two", *two))
    assert [hit.url for hit in hits[:2]] == pages("even", "uneven")


def test_variants_of_an_address_are_one_page_and_a_real_address_is_kept() -> None:
    one = Provider("one", "https://a.example/x", "http://www.example.org/page/?utm_source=one")
    two = Provider("two", "https://example.org/page", "https://b.example/")
    hits = fused(one, two)
    assert hits[0].url == "https://example.org/page"  # its rank is the better one
    assert hits[0].title == "two 1"
    assert len(hits) == 3


def test_the_address_of_a_stored_page_is_kept() -> None:
    web = Provider("web", "https://www.example.org/page")
    stored = Provider("stored", "https://a.example/", "http://example.org/page/", scope="local")
    assert "http://example.org/page/" in [hit.url for hit in fused(web, stored)]


def test_a_provider_that_names_a_page_twice_counts_once() -> None:
    twice = Provider("twice", *pages("a", "b", "a/", "b#x"))
    hits = fused(twice, Provider("other", *pages("b")))
    assert [hit.url for hit in hits] == pages("b", "a")


def test_a_domain_has_few_hits() -> None:
    many = [f"https://{name}.example.co.uk/{n}" for n in range(3) for name in ("a", "b")]
    web = Provider("web", *many, *pages("x", "y"))
    assert [hit.url for hit in fused(web, limit=4, per_domain=2)] == [*many[:2], *pages("x", "y")]


def test_places_that_nobody_else_fills_are_not_left_empty() -> None:
    many = [f"https://{name}.example.co.uk/{n}" for n in range(3) for name in ("a", "b")]
    hits = fused(Provider("web", *many, *pages("x", "y")), limit=7, per_domain=2)
    assert [hit.url for hit in hits] == [*many[:2], *pages("x", "y"), *many[2:5]]


@pytest.mark.parametrize("scope", ["site", "local"])
def test_pages_of_one_site_or_of_a_collection_are_not_capped(scope: Scope) -> None:
    wiki = Provider("wiki", *pages(*"abcdef"), scope=scope)
    web = Provider("web", *pages("a", "b", host="web.example"))
    hits = fused(wiki, web, limit=6, per_domain=2)
    assert [hit.provider for hit in hits] == ["wiki", "web", "wiki", "web", "wiki", "wiki"]


def test_a_site_that_was_asked_for_is_not_capped() -> None:
    web = Provider("web", *pages(*"abc"), *pages("d", host="www.example.net"))
    hits = fused(web, limit=3, per_domain=2, sites=("example.org", "example.net"))
    assert [hit.url for hit in hits] == pages(*"abc")


async def test_hits_failures_notices_and_timings() -> None:
    quota = ServiceQuotaError("The plan is spent.", "Wait.")
    providers = [
        Provider("one", *pages("a"), notices=["one cannot filter by recency."]),
        Provider("two", error=quota),
        Provider("three"),
    ]
    metasearch = Metasearch(providers)
    result = await metasearch.search(Query("q", 5))
    assert metasearch.name == "one, two, three"
    assert [hit.url for hit in result.hits] == pages("a")
    assert result.failures == (Failure("two", "The plan is spent. Wait.", "quota"),)
    assert result.notices == ("one cannot filter by recency.", "three found nothing.")
    assert list(result.timings) == ["one", "two", "three"]
    assert all(provider.asked == [Query("q", 5)] for provider in providers)


async def test_nothing_found_by_anybody_is_said() -> None:
    result = await Metasearch([Provider("wikipedia"), Provider("collection:notes")]).search(Query("q"))
    assert result.hits == ()
    assert result.notices == ("Wikipedia found nothing.", "The collection notes found nothing.")


async def test_sites_are_enforced_whatever_a_provider_answers() -> None:
    urls = ["https://reddit.com/r/x", "https://sub.quora.com/x", "https://example.org/", "https://b.example/"]
    metasearch = Metasearch([Provider("one", *urls), Provider("two", *urls[:2])])
    result = await metasearch.search(Query("q", exclude_sites=("reddit.com", "quora.com")))
    assert [hit.url for hit in result.hits] == urls[2:]
    assert result.notices == ("two found nothing on the requested sites.",)
    result = await metasearch.search(Query("q", sites=("b.example",)))
    assert [hit.url for hit in result.hits] == urls[3:]


async def test_a_single_provider_raises_its_own_error() -> None:
    error = ServiceKeyMissingError("no key", "Set it.")
    with pytest.raises(ServiceKeyMissingError) as raised:
        await Metasearch([Provider("one", error=error)]).search(Query("q"))
    assert raised.value is error


async def test_all_failed_is_one_error_with_every_reason() -> None:
    providers = [
        Provider("one", error=ServiceKeyMissingError("No key.", "Set it.")),
        Provider("two", error=ServiceUnreachableError("Nobody there.", "Look.")),
    ]
    with pytest.raises(ServiceError) as raised:
        await Metasearch(providers).search(Query("q"))
    assert raised.value.message == "All search providers failed. one: No key. two: Nobody there."
    assert raised.value.hint == "Set it."


async def test_the_others_get_little_time_once_one_has_answered() -> None:
    never = asyncio.Event()
    slow = Provider("slow", *pages("b"), when=never)
    metasearch = Metasearch([slow, Provider("fast", *pages("a"))], SearchLimits(1.0))
    started = time.monotonic()
    result = await metasearch.search(Query("q"))
    assert time.monotonic() - started < 5
    assert [hit.url for hit in result.hits] == pages("a")
    (failure,) = result.failures
    assert (failure.url, failure.kind) == ("slow", "late")
    assert failure.reason.startswith("late: another provider answered 0.1 s earlier.")
    assert slow.cancelled


async def test_those_that_answer_in_that_time_count() -> None:
    soon = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, soon.set)
    providers = [Provider("fast", *pages("a")), Provider("second", *pages("b"), when=soon)]
    result = await Metasearch(providers, SearchLimits(50.0)).search(Query("q"))
    assert [hit.url for hit in result.hits] == pages("a", "b")
    assert result.failures == ()


@pytest.mark.parametrize(
    "first",
    [
        Provider("stored", *pages("a"), scope="local"),
        Provider("empty"),
        Provider("failed", error=ServiceError("no")),
    ],
)
async def test_the_web_is_waited_for_while_only_others_answered(first: Provider) -> None:
    soon = asyncio.Event()
    asyncio.get_running_loop().call_later(0.2, soon.set)
    web = Provider("web", *pages("b"), when=soon)
    result = await Metasearch([first, web], SearchLimits(1.0)).search(Query("q"))
    assert pages("b")[0] in [hit.url for hit in result.hits]


async def test_a_provider_that_never_ends_is_stopped() -> None:
    stuck = Provider("stuck", when=asyncio.Event())
    with pytest.raises(ServiceUnreachableError, match=r"stuck did not respond within 0\.1 s"):
        await Metasearch([stuck], SearchLimits(0.1)).search(Query("q"))
    assert stuck.cancelled


async def test_a_cancelled_search_cancels_its_providers() -> None:
    stuck = [Provider("one", when=asyncio.Event()), Provider("two", when=asyncio.Event())]
    task = asyncio.create_task(Metasearch(stuck).search(Query("q")))
    while not all(provider.asked for provider in stuck):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(provider.cancelled for provider in stuck)


async def test_a_provider_that_keeps_failing_is_left_alone_for_a_while() -> None:
    now = 0.0
    broken = Provider("broken", error=ServiceUnreachableError("Nobody there."))
    metasearch = Metasearch([Provider("good", *pages("a")), broken], clock=lambda: now)
    results = [await metasearch.search(Query("q")) for _ in range(5)]
    assert len(broken.asked) == 3
    assert [result.failures[0].kind for result in results] == ["unreachable"] * 3 + ["paused"] * 2
    assert "Nobody there." in results[-1].failures[0].reason
    now = 31.0
    await metasearch.search(Query("q"))
    assert len(broken.asked) == 4


async def test_a_language_that_fails_does_not_pause_the_others() -> None:
    class Wikis(Provider):
        async def search(self, query: Query) -> list[Hit]:
            if query.language == "zz":
                raise ServiceUnreachableError("Nobody there.")
            return await super().search(query)

    metasearch = Metasearch([Wikis("wikipedia", *pages("a"))])
    for _ in range(4):
        with pytest.raises(ServiceError):
            await metasearch.search(Query("q", language="zz"))
    assert (await metasearch.search(Query("q", language="en"))).hits


async def test_several_queries_of_a_question_share_the_hits() -> None:
    class Echo(Provider):
        async def search(self, query: Query) -> list[Hit]:
            return [Hit(f"https://{query.text}{n}.example/", query.text, "", self.name) for n in range(4)]

    result = await Metasearch([Echo("one")]).search(Query("a", 4), Query("b", 4))
    assert [hit.title for hit in result.hits] == ["a", "b", "a", "b"]
    assert not result.failures
    assert not result.notices


async def test_providers_whose_names_cannot_be_resolved_mean_offline() -> None:
    one = Provider("one", error=ServiceOfflineError("one.example"))
    two = Provider("two", error=ServiceOfflineError("two.example"))
    with pytest.raises(ServiceOfflineError, match=r"Offline\? The names one.example, two.example cannot be"):
        await Metasearch([one, two]).search(Query("q"))
    with pytest.raises(ServiceError, match="All search providers failed") as raised:
        await Metasearch([one, Provider("three", error=ServiceQuotaError("It is spent."))]).search(Query("q"))
    assert not isinstance(raised.value, ServiceOfflineError)
