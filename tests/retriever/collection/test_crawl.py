"""Crawling a real site on this machine: how far, how fast, what is left out, and going on after a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from citewell.core.errors import ExtractionError, FetchError
from citewell.retriever.collection.crawl import CrawlLimits, crawl
from citewell.retriever.collection.indexing import Report
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.links import Leads
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import web_fetcher
from citewell.retriever.fetch.politeness import Hosts

if TYPE_CHECKING:
    from conftest import Library, Site

Walk = Callable[..., Awaitable[Report]]


@pytest.fixture
def walk(library: Library, in_process: Extractor) -> Walk:
    """Crawl from a URL as a command would, without a pause between requests unless told."""

    async def run(url: str, pages: int = 100, depth: int = 9, delay: float = 0, **options: Any) -> Report:
        guard = AddressGuard(allow_networks=(ip_network("127.0.0.0/8"),))
        async with web_fetcher(guard=guard, hosts=Hosts(spacing=delay)) as fetcher:
            with library.indexing() as indexer:
                limits = CrawlLimits(pages, depth)
                return await crawl(
                    url,
                    indexer,
                    fetch=fetcher.fetch,
                    wait=fetcher.wait,
                    extractor=in_process,
                    limits=limits,
                    **options,
                )

    return run


def held(library: Library) -> set[str]:
    return set(library.open().store.digests())


def chain(site: Site, length: int) -> None:
    """Pages /0, /1, …, each linking to the next."""
    for n in range(length):
        site.page(f"/{n}", f"/{n + 1}")


async def test_a_page_that_harms_its_reader_is_reported_and_the_rest_is_read(
    library: Library, site: Site
) -> None:
    class Hurt(Sandbox):
        async def leads(self, body: bytes, url: str, content_type: str = "") -> Leads:
            if url.endswith("/bad"):
                raise ExtractionError("the process that read it was ended by SIGSEGV")
            leads = await super().leads(body, url, content_type)
            return Leads((*leads.links, "http://[", "javascript:x", "\0", "https://other.example/"))

    site.page("/", "/bad", "/good")
    site.page("/bad", "/never")
    site.page("/good", "/")
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.0/8"),))
    async with web_fetcher(guard=guard) as fetcher, Hurt() as sandbox:
        with library.indexing() as indexer:
            report = await crawl(
                site.base, indexer, fetch=fetcher.fetch, wait=fetcher.wait, extractor=sandbox
            )
    assert held(library) == {f"{site.base}/", f"{site.base}/good"}
    assert [(one.url, one.kind) for one in report.failures] == [(f"{site.base}/bad", "extract")]


async def test_a_site_is_walked_and_searchable(library: Library, site: Site, walk: Walk) -> None:
    site.page("/", "/birds", "fish#fins", "/")
    site.page("/birds", "/", "/birds/owl")
    site.page("/birds/owl", "../fish", text="An owl hunts at night and turns its head very far indeed.")
    site.page("/fish", "/birds")
    report = await walk(site.base)
    assert (report.added, report.failures) == (4, [])
    assert site.asked == {"/": 1, "/birds": 1, "/fish": 1, "/birds/owl": 1}
    assert (await library.search("owl head night"))[0] == f"{site.base}/birds/owl"
    assert library.open().store.sources() == [f"{site.base}/"]
    assert library.indexed_passages() == library.stored_passages() > 0


async def test_malformed_addresses_fail_their_page_alone(library: Library, site: Site, walk: Walk) -> None:
    malformed = [
        "http://][@",
        "http://[::g]/",
        "http://[1:2.3]/",
        "http://%7f.1/",
        "//xn--zzzzzz/",
        "//[:a1]",
    ]
    site.robots = "".join(f"Sitemap: {address}\n" for address in malformed) + "User-agent: *\nDisallow: [::\n"
    paths = [f"/{n}" for n in range(len(malformed))]
    site.page("/", *malformed, *paths, "/good", head='<base href="http://][@">')
    site.page("/good")
    site.pages |= {path: f"->{address}" for path, address in zip(paths, malformed, strict=True)}
    for _ in range(2):  # again, since a crawl starts where the last one ended
        report = await walk(f"{site.base}/")
        assert held(library) == {f"{site.base}/", f"{site.base}/good"}
        assert {one.url: one.kind for one in report.failures} == {site.base + path: "url" for path in paths}


@pytest.mark.parametrize(("depth", "pages"), [(0, 1), (1, 2), (3, 4), (99, 6)])
async def test_depth_counts_links_from_the_start(
    library: Library, site: Site, walk: Walk, depth: int, pages: int
) -> None:
    chain(site, 6)
    site.page("/5")
    await walk(f"{site.base}/0", depth=depth)
    assert held(library) == {f"{site.base}/{n}" for n in range(pages)}


async def test_the_page_limit_takes_the_nearest_first(library: Library, site: Site, walk: Walk) -> None:
    site.page("/", "/a", "/b", "/c")
    for name in "abc":
        site.page(f"/{name}", f"/{name}/deep")
        site.page(f"/{name}/deep")
    await walk(f"{site.base}/", pages=5)
    assert list(site.asked) == ["/", "/a", "/b", "/c", "/a/deep"]


async def test_only_the_site_itself(
    library: Library, site: Site, make_site: Callable[[], Awaitable[Site]], walk: Walk
) -> None:
    other = await make_site()
    other.page("/page")
    site.page("/", f"{other.base}/page", "https://example.com/", "mailto:a@b.c", "/away", "/in")
    site.pages["/away"] = f"->{other.base}/page"
    site.page("/in")
    report = await walk(f"{site.base}/")
    assert held(library) == {f"{site.base}/", f"{site.base}/in"}
    assert [(f.url, f.reason) for f in report.failures] == [
        (f"{site.base}/away", "redirects to another site, 127.0.0.1")
    ]


async def test_the_start_may_redirect_to_the_site_that_is_meant(
    library: Library, site: Site, make_site: Callable[[], Awaitable[Site]], walk: Walk
) -> None:
    old = await make_site()
    old.pages["/"] = f"->{site.base}/home"
    old.page("/never")
    site.page("/home", "/page", f"{old.base}/never", "/home")
    site.page("/page", "/last")
    site.page("/last")
    report = await walk(f"{old.base}/", pages=2)
    assert report.added == 2
    report = await walk(f"{old.base}/")
    assert (report.added, report.unchanged) == (1, 2)
    assert held(library) == {f"{site.base}/{name}" for name in ("home", "page", "last")}
    assert old.asked == {"/": 2}


async def test_a_redirect_within_the_site_is_one_page(library: Library, site: Site, walk: Walk) -> None:
    site.page("/", "/old", "/new", "/older")
    site.pages["/old"] = "->/new"
    site.pages["/older"] = "->/new?PHPSESSID=1"
    site.page("/new", "/beyond")
    site.pages["/new?PHPSESSID=1"] = site.pages["/new"]
    site.page("/beyond")
    report = await walk(f"{site.base}/")
    assert (report.added, report.unchanged, report.failures) == (3, 0, [])
    assert held(library) == {f"{site.base}/", f"{site.base}/new", f"{site.base}/beyond"}


async def test_pages_that_redirect_to_one_that_was_read_count(site: Site, walk: Walk) -> None:
    site.page("/", "/login", *(f"/secret-{n}" for n in range(50)))
    site.page("/login")
    for n in range(50):
        site.pages[f"/secret-{n}"] = "->/login"
    await walk(f"{site.base}/", pages=5)
    assert len(site.asked) == 5


async def test_a_redirect_that_never_ends(site: Site, walk: Walk) -> None:
    site.page("/", "/loop")
    site.pages["/loop"] = "->/loop"
    report = await walk(f"{site.base}/")
    assert [f.reason for f in report.failures] == ["it redirects more than 5 times"]


async def test_robots_txt_is_obeyed_and_reported(library: Library, site: Site, walk: Walk) -> None:
    site.robots = "User-agent: *\nDisallow: /private\n"
    site.page("/", "/private/a", "/sneaky", "/public")
    site.page("/private/a")
    site.pages["/sneaky"] = "->/private/b"
    site.page("/private/b")
    site.page("/public", "/private/a")
    report = await walk(f"{site.base}/", pages=3)
    assert held(library) == {f"{site.base}/", f"{site.base}/public"}
    assert [(f.url, f.reason) for f in report.failures] == [
        (f"{site.base}/private/a", "robots.txt does not allow it"),
        (f"{site.base}/sneaky", "robots.txt does not allow it"),
    ]
    assert site.asked["/private/a"] == 0


async def test_noindex_and_nofollow(library: Library, site: Site, walk: Walk) -> None:
    site.page("/", "/list")
    site.page("/list", "/item", head='<meta name="robots" content="noindex">')
    site.page("/item", "/secret", head='<meta name="robots" content="nofollow">')
    report = await walk(f"{site.base}/")
    assert held(library) == {f"{site.base}/", f"{site.base}/item"}
    assert [f.url for f in report.failures] == [f"{site.base}/list"]
    assert "noindex" in report.failures[0].reason
    assert "/secret" not in site.asked


async def test_the_header_for_robots_counts_too(library: Library, site: Site, walk: Walk) -> None:
    site.page("/", "/list", "/other")
    site.page("/list", "/item")
    site.page("/item", "/secret")
    site.page("/other")
    site.headers = {
        "/list": {"X-Robots-Tag": "noindex"},
        "/item": {"X-Robots-Tag": "citewell: nofollow"},
        "/other": {"X-Robots-Tag": "otherbot: noindex, nofollow"},
    }
    report = await walk(f"{site.base}/")
    assert held(library) == {f"{site.base}/", f"{site.base}/item", f"{site.base}/other"}
    assert [f.url for f in report.failures] == [f"{site.base}/list"]
    assert "/secret" not in site.asked


async def test_a_start_page_that_only_goes_on_to_another(library: Library, site: Site, walk: Walk) -> None:
    site.pages["/"] = '<html><head><meta http-equiv="refresh" content="0; url=latest/"></head></html>'
    site.page("/latest/", "/latest/wind")
    site.page("/latest/wind")
    await walk(f"{site.base}/")
    assert held(library) == {f"{site.base}/latest/", f"{site.base}/latest/wind"}


async def test_pages_that_fail_are_reported_and_the_rest_is_read(
    library: Library, site: Site, walk: Walk
) -> None:
    site.page("/", "/missing", "/broken", "/empty", "/good")
    site.pages["/broken"] = web.HTTPInternalServerError
    site.pages["/empty"] = "<html><body></body></html>"
    site.page("/good")
    report = await walk(f"{site.base}/")
    assert held(library) == {f"{site.base}/", f"{site.base}/good"}
    assert [(f.url.removeprefix(site.base), f.reason.partition(":")[0]) for f in report.failures] == [
        ("/missing", "the server answered 404 Not Found"),
        ("/broken", "the server answered 500 Internal Server Error"),
        ("/empty", "no main text found"),
    ]


@pytest.mark.parametrize(
    ("delay", "robots", "least"), [(0.1, "", 0.1), (0, "User-agent: *\nCrawl-delay: 0.15", 0.15)]
)
async def test_the_pause_between_requests(
    site: Site, walk: Walk, delay: float, robots: str, least: float
) -> None:
    chain(site, 4)
    site.robots = robots
    await walk(f"{site.base}/0", pages=4, delay=delay)
    assert len(site.times) == 4
    assert site.times[3] - site.times[0] >= 3 * least * 0.9


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ("/missing", "cannot be crawled: the server answered 404 Not Found"),
        ("/private", "cannot be crawled: robots.txt does not allow it"),
        ("/sneaky", "cannot be crawled: robots.txt does not allow it"),
    ],
)
async def test_a_start_that_cannot_be_had_is_an_error(
    library: Library, site: Site, walk: Walk, start: str, reason: str
) -> None:
    site.robots = "User-agent: *\nDisallow: /private\n"
    site.pages["/sneaky"] = "->/private"
    site.page("/private")
    with pytest.raises(FetchError, match=reason):
        await walk(f"{site.base}{start}")
    assert held(library) == set()
    site.robots = ""
    site.page("/missing")
    assert (await walk(f"{site.base}{start}")).added == 1  # a new crawl, not the rest of the failed one


async def test_a_start_that_is_no_web_address(walk: Walk) -> None:
    with pytest.raises(FetchError, match="only http and https"):
        await walk("ftp://a.example/")


async def test_a_finished_crawl_begins_anew_and_skips_what_is_the_same(
    library: Library, site: Site, walk: Walk
) -> None:
    site.page("/", "/a", "/b")
    site.page("/a", text="The first version speaks of aardvarks and of nothing else at all.")
    site.page("/b")
    await walk(f"{site.base}/")
    site.page("/a", "/c", text="The second version speaks of bison and of nothing else at all.")
    site.page("/c")
    report = await walk(f"{site.base}/")
    assert (report.added, report.changed, report.unchanged, report.removed) == (1, 1, 2, 0)
    assert await library.search("aardvarks") == []
    assert (await library.search("bison"))[0] == f"{site.base}/a"


async def test_pages_that_the_site_no_longer_has_are_forgotten(
    library: Library, site: Site, walk: Walk
) -> None:
    site.page("/", "/deleted", "/unlinked", "/moved", "/flaky")
    for path in ("/deleted", "/unlinked", "/moved", "/flaky"):
        site.page(path)
    await walk(f"{site.base}/")
    del site.pages["/deleted"]
    site.page("/", "/deleted", "/moved", "/flaky")
    site.page("/target")
    site.pages["/moved"] = "->/target"
    site.pages["/flaky"] = web.HTTPServiceUnavailable
    report = await walk(f"{site.base}/")
    # /flaky may be back tomorrow, and may have links: with it, nothing is forgotten for want of one.
    assert held(library) == {f"{site.base}/{name}" for name in ("", "target", "flaky", "unlinked")}
    assert report.removed == 2
    site.page("/flaky")
    report = await walk(f"{site.base}/")
    assert held(library) == {f"{site.base}/{name}" for name in ("", "target", "flaky")}
    assert report.removed == 1
    assert library.indexed_passages() == library.stored_passages()


async def test_a_revisit_keeps_known_pages_that_are_far_or_not_linked(
    library: Library, site: Site, walk: Walk
) -> None:
    chain(site, 5)
    await walk(f"{site.base}/0", pages=6, depth=5)  # /5 is linked, and missing
    site.page("/4", text="The last page of the chain was changed since.")
    site.page("/1")
    del site.pages["/3"]
    report = await walk(f"{site.base}/0", pages=2, depth=1, revisit=True)
    assert held(library) == {f"{site.base}/{n}" for n in (0, 1, 2, 4)}
    assert (report.changed, report.gone) == (2, [f"{site.base}/3"])
    assert site.asked["/4"] == 2
    site.pages["/2"] = "->/0"
    site.pages["/4"] = web.HTTPServiceUnavailable
    report = await walk(f"{site.base}/0", pages=2, depth=1, revisit=True)
    assert held(library) == {f"{site.base}/{n}" for n in (0, 1, 4)}


async def test_a_crawl_that_stopped_at_its_limit_forgets_nothing(
    library: Library, site: Site, walk: Walk
) -> None:
    chain(site, 5)
    await walk(f"{site.base}/0", pages=5)
    report = await walk(f"{site.base}/0", pages=2)
    assert report.removed == 0
    assert len(held(library)) == 5


async def test_an_interrupted_crawl_goes_on_without_asking_twice(
    library: Library, site: Site, walk: Walk
) -> None:
    chain(site, 12)
    site.page("/11")

    def stop(report: Report) -> None:
        if report.seen == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await walk(f"{site.base}/0", depth=99, on_progress=stop)
    assert sum(site.asked.values()) == 5
    assert library.indexed_passages() == library.stored_passages() == 5  # what is there can be searched
    report = await walk(f"{site.base}/0", depth=99)
    assert report.added == 7
    assert site.asked == {f"/{n}": 1 for n in range(12)}
    assert library.indexed_passages() == library.stored_passages()


async def test_a_cancelled_crawl_asks_again_only_for_the_page_under_way(
    library: Library, site: Site, walk: Walk
) -> None:
    chain(site, 8)
    site.page("/7")
    task = asyncio.ensure_future(walk(f"{site.base}/0", delay=0.05))
    while sum(site.asked.values()) < 4:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await walk(f"{site.base}/0")
    assert set(site.asked) == {f"/{n}" for n in range(8)}
    assert sum(site.asked.values()) <= 9
    assert len(held(library)) == 8


async def test_a_killed_crawl_asks_again_only_for_the_page_under_way(
    library: Library, site: Site, command: Callable[..., list[str]], environment: dict[str, str]
) -> None:
    chain(site, 12)
    site.page("/11")

    async def start(delay: float) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *command("crawl_slowly.py", library.place, f"{site.base}/0", delay), env=environment
        )

    process = await start(0.1)
    while sum(site.asked.values()) < 5:
        await asyncio.sleep(0.01)
    process.kill()
    await process.wait()
    assert await (await start(0)).wait() == 0
    assert set(site.asked) == {f"/{n}" for n in range(12)}
    assert sum(site.asked.values()) <= 13
    assert len(held(library)) == 12
    assert library.indexed_passages() == library.stored_passages()


async def test_a_site_that_wants_long_delays_is_left_and_its_pages_are_reported(
    library: Library, site: Site, walk: Walk
) -> None:
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    await walk(f"{site.base}/")
    site.robots = "User-agent: *\nCrawl-delay: 1000000\n"
    async with asyncio.timeout(10):
        report = await walk(f"{site.base}/")
    assert [(one.url, one.kind) for one in report.failures] == [
        (f"{site.base}/a", "robots"),
        (f"{site.base}/b", "robots"),
    ]
    assert "wants 1,000,000 s between two pages" in report.failures[0].reason
    assert held(library) == {f"{site.base}/", f"{site.base}/a", f"{site.base}/b"}


async def test_a_crawl_of_less_depth_forgets_nothing_that_is_linked_deeper(
    library: Library, site: Site, walk: Walk
) -> None:
    chain(site, 5)
    await walk(f"{site.base}/0")
    report = await walk(f"{site.base}/0", depth=1)
    assert report.removed == 0
    assert len(held(library)) == 5
    site.page("/1")
    report = await walk(f"{site.base}/0", depth=1)
    assert report.gone == [f"{site.base}/{n}" for n in (2, 3, 4)], "no link leads there any more"


async def test_a_robots_txt_that_cannot_be_read_takes_no_page_away(
    library: Library, site: Site, walk: Walk
) -> None:
    links = [f"/{n}" for n in range(4)]
    site.page("/", *links)
    for link in links:
        site.page(link)
    await walk(f"{site.base}/")

    def stop(report: Report) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await walk(f"{site.base}/", on_progress=stop)
    site.robots = None
    report = await walk(f"{site.base}/")
    assert (report.removed, len(report.failures)) == (0, 4)
    assert len(held(library)) == 5
