"""The benchmark's law, its server and its rules, on a small web."""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator
from ipaddress import ip_network

import pytest
from aiohttp.test_utils import TestServer

from benchmarks.coarse_latency import WEBGLM, Bench, LatencyResult, Loopback, summary
from benchmarks.delays import (
    ERRORS,
    FETCH_MEAN,
    HANG,
    PASSING,
    WITHIN,
    DelayedReply,
    DelayLaw,
    Fate,
    fitted,
    stage_mean,
)
from benchmarks.local_web import Case, snippet
from benchmarks.replay import Oddities, application, name, plan
from benchmarks.waiting_rules import PageEnd, end
from citewell.core.errors import FetchError
from citewell.core.settings import load_settings
from citewell.core.types import Hit, Page, Passage
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.hedge import HedgedFetch
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.rank import Ranker
from citewell.retriever.stage import WaitPolicy

QUESTION = "How do bats find their way in the dark?"
TEXTS = [
    "Bats find their way in the dark by listening to the echoes of their own calls, which are very high.",
    "In the dark, a bat sends out high calls and finds its way by the echoes that come back to its ears.",
    "How bats find their way was found by covering their ears: deaf bats in the dark fly into walls.",
    "Echolocation lets bats find insects and their way through caves where it is always dark.",
    "Bats that hunt in the dark call up to two hundred times a second to find a moth on its way.",
    "Sourdough bread rises because wild yeast in the starter makes carbon dioxide all night long.",
]
URLS = [f"/wiki/{number}" for number in range(len(TEXTS))]
PAGES = {
    name(url): f"<title>Bats</title><main><h1>Bats</h1><p>{text}</p></main>".encode()
    for url, text in zip(URLS, TEXTS, strict=True)
}
CASE = Case(QUESTION, tuple(Hit(url, "Bats", text) for url, text in zip(URLS, TEXTS, strict=True)), ())
FAST = DelayLaw(math.log(0.02), 0.1)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with TestServer(application(PAGES), host="127.0.0.1") as server:
        assert server.port
        yield server.port


@pytest.fixture
async def fetcher() -> AsyncIterator[HttpFetcher]:
    guard = AddressGuard((ip_network("127.0.0.0/8"),))
    async with web_fetcher(guard=guard, resolver=Loopback()) as fetcher:
        yield fetcher


def test_the_law_has_both_figures_of_webglm() -> None:
    law = fitted()
    assert stage_mean(law) == pytest.approx(FETCH_MEAN, abs=1e-3)
    rng = random.Random(0)
    fates = [law.draw(rng) for _ in range(20_000)]
    pages = [fate.first.seconds for fate in fates if fate.first.kind == "page"]
    assert sum(seconds <= 5 for seconds in pages) / len(pages) == pytest.approx(WITHIN, abs=0.005)
    for kind, share in (("hang", HANG), ("error", ERRORS)):
        assert sum(fate.first.kind == kind for fate in fates) / 20_000 == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_second_request_is_like_the_first_or_unlike_it(share: float) -> None:
    rng, law = random.Random(0), fitted(share)
    fates = [law.draw(rng) for _ in range(5_000)]
    hangs = [fate.second.kind == "hang" for fate in fates if fate.first.kind == "hang"]
    both = [fate for fate in fates if fate.first.kind == fate.second.kind == "page"]
    same = [fate.first.seconds == pytest.approx(fate.second.seconds) for fate in both]
    if share:
        assert sum(hangs) / len(hangs) < 0.15
        assert not any(same)
    else:
        assert all(hangs)
        assert all(same)


async def test_the_server_does_what_a_url_asks_for(port: int, fetcher: HttpFetcher) -> None:
    plain = next(page for page in PAGES if not Oddities.of(page).redirects)
    hangs = plan(Fate(DelayedReply("hang"), DelayedReply("page", 0.01)))
    get = HedgedFetch(fetcher.fetch, after=0.05, max_hedges=1)
    page = await get(PageRequest(f"http://a.test:{port}/1/{hangs}/{plain}"))
    assert page.body == PAGES[plain]
    for status in (404, PASSING[0]):
        fails = plan(Fate(DelayedReply("error", 0.01, status), DelayedReply("error", 0.01, status)))
        with pytest.raises(FetchError, match=str(status)):
            await fetcher.get(f"http://b.test:{port}/2/{fails}/{plain}")
    # Twice: aiohttp itself repeats a request whose connection is reset.
    reset = plan(Fate(DelayedReply("error", 0.01, 0), DelayedReply("error", 0.01, 0)))
    with pytest.raises(FetchError, match="closed the connection"):
        await fetcher.get(f"http://c.test:{port}/3/{reset}/{plain}")


@pytest.mark.alone
async def test_both_rules_find_the_same_references_when_all_pages_are_quick(
    port: int, fetcher: HttpFetcher, ranker: Ranker, sandbox: Sandbox
) -> None:
    bench = Bench(ranker, sandbox, fetcher, load_settings(), port)
    seed = next(seed for seed in range(1000) if all(reply == "page" for reply in kinds(seed)))
    await bench.ask(CASE, FAST, seed, WEBGLM)  # warm
    baseline = await bench.ask(CASE, FAST, seed, WEBGLM)
    ours = await bench.ask(CASE, FAST, seed, WaitPolicy(patience=1000))
    assert baseline.references == ours.references
    found = [text.split("\n")[-1] for _, text in ours.references]
    assert set(found) == set(TEXTS[:5])
    best = bench.best(CASE, baseline, ours)
    numbers = summary([ours], [baseline], [best])
    assert (numbers["kept"], numbers["kept_strictly"], numbers["late"]) == (1.0, 1.0, 0.0)
    assert ours.overhead < ours.seconds < 5
    alone = await bench.ask_one_by_one(CASE, FAST, seed, WEBGLM)
    assert alone.seconds > len(TEXTS) * 0.01


def kinds(seed: int) -> list[str]:
    rng = random.Random(f"{QUESTION} {seed}")
    return [reply.kind for _ in TEXTS for reply in FAST.draw(rng)]


def test_what_a_better_page_outranks_is_not_lost() -> None:
    def outcome(*texts: str) -> LatencyResult:
        return LatencyResult(1.0, 0.1, frozenset(("page", text) for text in texts), {}, 10, 0)

    ours, baseline = outcome("a", "b", "new"), outcome("a", "b", "c")
    outranked = summary([ours], [baseline], [frozenset({("page", "a"), ("page", "b"), ("page", "new")})])
    assert (outranked["kept"], outranked["kept_strictly"]) == (1.0, 0.667)
    lost = summary([ours], [baseline], [baseline.references])
    assert (lost["kept"], lost["kept_strictly"]) == (0.667, 0.667)


def test_a_second_request_ends_earlier_or_changes_nothing() -> None:
    slow = Fate(DelayedReply("page", 4.0), DelayedReply("page", 0.2))
    assert end(slow, math.inf) == PageEnd(4.0, True)
    assert end(slow, 1.0) == PageEnd(1.2, True)
    assert end(Fate(DelayedReply("page", 0.5), DelayedReply("page", 0.1)), 1.0) == PageEnd(0.5, True)
    assert end(Fate(DelayedReply("hang"), DelayedReply("hang")), 1.0) == PageEnd(math.inf, False)
    passing = Fate(DelayedReply("error", 0.3, PASSING[0]), DelayedReply("page", 0.2))
    assert end(passing, 1.0) == PageEnd(0.5, True)
    assert end(passing, math.inf) == PageEnd(0.3, False)


def test_a_snippet_is_the_sentence_that_matches_best() -> None:
    passages = tuple(
        Passage("/wiki/bats", "Bats", text) for text in (TEXTS[5], f"Bats are animals. {TEXTS[0]}")
    )
    assert snippet(QUESTION, Page("/wiki/bats", "Bats", passages)) == TEXTS[0]
