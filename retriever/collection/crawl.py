"""Crawls a website politely, one page after another, and indexes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from citewell.core.errors import CollectionError, ExtractionError, FetchError
from citewell.core.types import Failure, Page
from citewell.retriever.collection.frontier import Queued, State
from citewell.retriever.collection.indexing import Indexer, Report
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.links import Leads, canonical, permitted
from citewell.retriever.fetch.download import ContentTypeError, Download, HttpStatusError
from citewell.retriever.fetch.page_request import PageFetch, PageRequest
from citewell.retriever.fetch.robots import RobotsError, UnreadableRobotsError
from citewell.retriever.fetch.urls import WebUrl, web_url

_COMMIT = 50  # pages between commits of the index
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """How far a crawl goes."""

    pages: int = 200
    """Max URLs fetched, including failures."""
    depth: int = 3
    """Max links between the start page and a page."""


class _MovedAwayError(FetchError):
    """A URL redirects to another site."""


async def crawl(
    start: str,
    indexer: Indexer,
    *,
    fetch: PageFetch,
    wait: Callable[[str], Awaitable[None]],
    extractor: Extractor,
    limits: CrawlLimits | None = None,
    revisit: bool = False,
    on_progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Index the site of `start`: linked pages with its scheme, host and port, breadth first.

    `fetch` fetches a page if robots.txt allows it, and `wait` keeps the delay between requests to the site:
    `HttpFetcher.fetch`, or a `HedgedFetch` that repeats failures, and `HttpFetcher.wait`.

    If `start` redirects, the site is that of its target. Called again, an interrupted crawl resumes, and a
    finished one starts over, skipping unchanged pages. Pages that the site no longer has are deleted: those
    answered with 404 or 410 at once, and those without links to them after all of the site within
    `limits.depth` was read without a failure, if none of the collection's pages is linked deeper. With
    `revisit`, all known pages are visited, whatever the limits and links, so that only those are deleted that
    the site answers with 404 or 410, or moves.

    Failures of single pages are in the report. Raises `FetchError` if the start page cannot be fetched.
    """
    start = canonical(web_url(start))
    known = indexer.store.urls(start) if revisit else ()
    run = _Crawl(start, indexer, fetch, wait, extractor, limits or CrawlLimits(), known)
    uncommitted = 0
    while (queued := run.next()) is not None:
        await run.visit(queued)
        uncommitted += 1
        if uncommitted >= _COMMIT:
            indexer.commit()
            uncommitted = 0
        on_progress(run.report)
    run.finish()
    indexer.commit()
    on_progress(run.report)
    return run.report


class _Crawl:
    """One crawl, resumed where it stopped."""

    def __init__(
        self,
        start: str,
        indexer: Indexer,
        fetch: PageFetch,
        wait: Callable[[str], Awaitable[None]],
        extractor: Extractor,
        limits: CrawlLimits,
        known: Sequence[str],
    ) -> None:
        self.report = Report()
        self._start = start
        self._indexer = indexer
        self._fetch_page = fetch
        self._wait = wait
        self._extractor = extractor
        self._limits = replace(limits, pages=max(limits.pages, len(known)))
        self._revisits = bool(known)
        self._known = known
        if not indexer.store.claim("crawl", [start]):
            raise CollectionError(
                f"Another run is crawling {start} into the collection {indexer.store.name!r}.",
                "Wait for its end, or crawl from another page.",
            )
        self._frontier = indexer.store.frontier(start)
        self._site = web_url(self._frontier.site())

    def next(self) -> Queued | None:
        """Return the next URL to visit; None at the end of the queue or the limit of pages."""
        return self._queued() if self._frontier.visits() < self._limits.pages else None

    def _queued(self) -> Queued | None:
        """Return the next URL of the queue, at its end of the known pages that no link led to."""
        queued = self._frontier.next()
        if queued is None and self._known:
            self._frontier.settle({}, self._known, self._limits.depth - 1)
            self._known = ()
            queued = self._frontier.next()
        return None if queued is None or queued.depth > self._limits.depth else queued

    async def visit(self, queued: Queued) -> None:
        """Fetch one URL, store its page, and queue its links."""
        url, depth = queued
        try:
            download, final = await self._fetch(url)
        except FetchError as error:
            self._fail(url, depth, error)
            return
        states: dict[str, State] = {}
        leads = Leads()
        if final != url:
            states[url] = "gone" if self._frontier.is_settled(final) else "skipped"
            self._indexer.drop(url, self.report)
        if final == url or not self._frontier.is_settled(final):
            document = SourceDocument(final, download.body, download.content_type)
            known = self._indexer.is_known(document)
            page: Page | Failure | None
            try:
                leads = await self._extractor.leads(document.body, document.url, document.content_type)
                leads = permitted(leads, download.robots)
                page = None if known or leads.noindex else await self._read(document)
            except ExtractionError as error:
                page = Failure(document.url, error.message, "extract")
            states[final] = self._store(document, page, leads)
        # Links that lead too deep stay in the queue, to tell whether pages of the collection are there.
        follows = depth < self._limits.depth or not self._revisits
        self._frontier.settle(states, self._links(leads) if follows else (), depth)

    def finish(self) -> None:
        """Delete the pages that the site no longer has, and the queue."""
        deeper = self._frontier.urls("queued").intersection(self._indexer.store.urls(self._start))
        if self._queued() is None and not deeper and not self._frontier.urls("failed"):
            self._indexer.forget(self._start, self._frontier.urls("read"), self.report)
        self._frontier.end()

    def _links(self, leads: Leads) -> list[str]:
        """Return the links within the site, checked again since a process that parses hostile pages sent
        them."""
        links = []
        for link in leads.links:
            with suppress(FetchError):
                url = web_url(link)
                if _is_same_site(url, self._site):
                    links.append(canonical(url))
        return links

    async def _read(self, document: SourceDocument) -> Page | Failure:
        try:
            return await self._extractor.extract(document.body, document.url, document.content_type)
        except ExtractionError as error:
            return Failure(document.url, error.message, "extract")

    async def _fetch(self, url: str) -> tuple[Download, str]:
        """Fetch `url`; return the download and its final URL in canonical form."""
        await self._wait(url)
        download = await self._fetch_page(PageRequest(url))
        landed = web_url(download.url)
        final = canonical(landed)
        if url == self._start:
            self._site = landed
        elif not _is_same_site(landed, self._site):
            raise _MovedAwayError(f"redirects to another site, {landed.host}")
        return download, final

    def _fail(self, url: str, depth: int, error: FetchError) -> None:
        if url == self._start:
            self._frontier.end()
            raise FetchError(f"{url} cannot be crawled: {error.message}.", error.hint) from error
        self.report.failures.append(Failure(url, error.message, error.kind))
        state = _state(error)
        if state == "gone":
            self._indexer.drop(url, self.report)
        self._frontier.settle({url: state}, (), depth)

    def _store(self, document: SourceDocument, page: Page | Failure | None, leads: Leads) -> State:
        """Store a new page and return the state of its URL. `page` is None if it is unchanged."""
        if leads.noindex:
            self._indexer.drop(document.url, self.report)
            self.report.failures.append(Failure(document.url, "the page asks not to be indexed (noindex)"))
            return "gone"
        if page is None:
            self.report.unchanged += 1
        elif isinstance(page, Failure):
            self.report.failures.append(page)
        else:
            self._indexer.put(self._start, [(document, page)], self.report)
        return "read"


def is_gone(error: FetchError) -> bool:
    """Return whether a server answered that it does not have the page."""
    return isinstance(error, HttpStatusError) and error.status in _GONE


def _is_same_site(url: WebUrl, site: WebUrl) -> bool:
    # Not URL.origin(), which distinguishes an explicit default port from an implied one.
    return (url.scheme, url.host, url.port) == (site.scheme, site.host, site.port)


def _state(error: FetchError) -> State:
    if isinstance(error, RobotsError) and not isinstance(error, UnreadableRobotsError):
        return "skipped"
    return "gone" if is_gone(error) or isinstance(error, ContentTypeError | _MovedAwayError) else "failed"
