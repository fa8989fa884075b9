from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_network

import pytest
from aiohttp import web

from citewell.browser.environment import Browser
from citewell.browser.live_web import LiveWeb
from citewell.browser.reading import PageReader
from citewell.core.errors import ServiceUnreachableError
from citewell.core.types import Hit, Page, Passage
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.search.metasearch import Metasearch
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Query
from tests.conftest import Serve

pytest.importorskip("html2text", reason="the extra browser is not installed")

CROWS = "<title>Crows</title><body><h1>Crows</h1><p>Crows are clever birds with black feathers.</p>"


class Hits:
    """A provider that finds what it is given."""

    name = "hits"
    scope: Scope = "web"

    def __init__(self, *hits: Hit, error: ServiceUnreachableError | None = None) -> None:
        self.hits = hits
        self.error = error
        self.asked: list[Query] = []

    def notices(self, query: Query) -> list[str]:
        return []

    async def search(self, query: Query) -> list[Hit]:
        self.asked.append(query)
        if self.error:
            raise self.error
        return list(self.hits)


class Held:
    """A collection of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def page(self, url: str) -> Page | None:
        return self._page if url == self._page.url else None


@pytest.fixture
async def fetcher() -> AsyncIterator[HttpFetcher]:
    async with web_fetcher(guard=AddressGuard((ip_network("127.0.0.0/8"),)), robots=False) as fetcher:
        yield fetcher


def live(fetcher: HttpFetcher, sandbox: Sandbox, held: Held | None = None, *hits: Hit) -> LiveWeb:
    return LiveWeb(Metasearch([Hits(*hits)]), held, fetcher.fetch, PageReader(sandbox).read)


async def crows(request: web.Request) -> web.Response:
    return web.Response(text=CROWS, content_type="text/html")


async def test_a_page_is_fetched_and_simplified_once(
    serve: Serve, fetcher: HttpFetcher, sandbox: Sandbox
) -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.path)
        return await crows(request)

    address = await serve({"/crows": handler})
    browsed = live(fetcher, sandbox)
    pages = await asyncio.gather(*(browsed.open(f"{address}/crows", "What is black?") for _ in range(5)))
    assert pages[0].title == "Crows (127.0.0.1)"
    assert "clever birds" in pages[0].text
    assert all(page is pages[0] for page in pages)
    assert asked == ["/crows"]


async def test_what_is_not_public_is_an_error_page(sandbox: Sandbox, serve: Serve) -> None:
    address = await serve({"/crows": crows})
    async with web_fetcher() as guarded:
        page = await live(guarded, sandbox).open(f"{address}/crows", "What?")
    assert page.kind == "error"
    assert "127.0.0.1" in page.text
    assert "clever" not in page.text


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "ftp://a.example/", "http://[", ""]
)
async def test_only_pages_of_the_web_are_opened(url: str, fetcher: HttpFetcher, sandbox: Sandbox) -> None:
    assert (await live(fetcher, sandbox).open(url, "What?")).kind == "error"


async def test_a_held_page_that_cannot_be_fetched_is_shown_as_its_passages(
    fetcher: HttpFetcher, sandbox: Sandbox
) -> None:
    url = "file:///home/me/crows.txt"
    passages = (
        Passage(url, "Crows", "They are black.", ("Looks",)),
        Passage(url, "Crows", "They are 50 cm long.", ("Looks", "Size ♦")),
        Passage(url, "Crows", "They eat 【0†all】.", ("Food",)),
    )
    page = await live(fetcher, sandbox, Held(Page(url, "Crows", passages))).open(url, "What?")
    assert (page.kind, page.title, page.links) == ("page", "Crows", ())
    assert page.text.split("\n\n") == [
        "## Looks",
        "They are black.",
        "### Size ◆",
        "They are 50 cm long.",
        "## Food",
        "They eat 〖0‡all〗.",
    ]


async def test_a_page_that_gives_the_question_away_is_hidden_from_who_asks_it_only(
    serve: Serve, fetcher: HttpFetcher, sandbox: Sandbox
) -> None:
    question = "What are the clever birds that have black feathers and steal from us?"

    async def forum(request: web.Request) -> web.Response:
        return web.Response(text=f"Somebody asks: {question}", content_type="text/plain")

    address = await serve({"/forum": forum})
    browsed = live(fetcher, sandbox)
    assert (await browsed.open(f"{address}/forum", question)).kind == "error"
    assert (await browsed.open(f"{address}/forum", "Why?", question)).kind == "error"
    assert (await browsed.open(f"{address}/forum", "Why?")).kind == "page"


async def test_denied_sites_are_neither_found_nor_opened_nor_led_to(
    serve: Serve, fetcher: HttpFetcher, sandbox: Sandbox
) -> None:
    async def away(request: web.Request) -> web.Response:
        raise web.HTTPFound("/crows")

    address = await serve({"/crows": crows, "/away": away})
    hits = (Hit("https://www.reddit.com/r/crows", "A"), Hit("https://birds.example/", "B", "Birds."))
    provider = Hits(*hits)
    query = Query("", exclude_sites=("127.0.0.1",))
    browsed = LiveWeb(Metasearch([provider]), None, fetcher.fetch, PageReader(sandbox).read, query=query)
    found = await browsed.search("crows")
    assert [link.url for link in found.links] == ["https://birds.example/"]
    assert provider.asked[0].exclude_sites == ("127.0.0.1", "reddit.com", "quora.com")
    assert "left out" in (await browsed.open("https://old.reddit.com/r/crows", "What?")).text
    assert "left out" in (await browsed.open(f"{address}/away", "What?")).text


async def test_a_search_that_fails_is_an_error_page(fetcher: HttpFetcher, sandbox: Sandbox) -> None:
    search = Metasearch([Hits(error=ServiceUnreachableError("The engine is down.", "Wait."))])
    page = await LiveWeb(search, None, fetcher.fetch, PageReader(sandbox).read).search("crows")
    assert page.kind == "error"
    assert "The engine is down" in page.text


async def test_pages_in_memory_are_bounded(serve: Serve, fetcher: HttpFetcher, sandbox: Sandbox) -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text="Crows. " * 100, content_type="text/plain")

    address = await serve({f"/{name}": handler for name in "abc"})
    read = PageReader(sandbox).read
    browsed = LiveWeb(Metasearch([Hits()]), None, fetcher.fetch, read, max_characters=1500)
    for name in "abacab":
        await browsed.open(f"{address}/{name}", "What?")
    assert asked == ["/a", "/b", "/c", "/b"]


async def test_a_site_is_browsed_by_its_links(serve: Serve, fetcher: HttpFetcher, sandbox: Sandbox) -> None:
    async def start(request: web.Request) -> web.Response:
        text = (
            f"<title>Birds</title><body><h1>Birds</h1><p>{'About birds. ' * 20}<a href='/crows'>Crows</a></p>"
        )
        return web.Response(text=text, content_type="text/html")

    address = await serve({"/": start, "/crows": crows})
    hit = Hit(f"{address}/", "Birds", "All about birds.")
    browser = Browser(live(fetcher, sandbox, None, hit))
    await browser.reset("What are the feathers of crows like?")
    for command in (
        "Search crow feathers",
        "Clicked on link 0",
        "Clicked on link 0",
        "Quote: clever birds━feathers.",
        "Back",
    ):
        assert not (await browser.step(command)).step.reason
    (quote,) = browser.quotes
    assert (quote.text, quote.url) == ("clever birds with black feathers.", f"{address}/crows")
    assert browser.state.title == "Birds (127.0.0.1)"
    assert browser.state.past_actions == (
        "Search crow feathers",
        "Click Birds 127.0.0.1",
        "Click Crows",
        "Quote",
        "Back",
    )
