"""The search of the settings: its providers, their keys, and its limits."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from citewell.core.errors import InputError, ServiceOfflineError, ServiceUnreachableError
from citewell.core.settings import SearchSettings, Settings
from citewell.core.text import content_words, words
from citewell.core.types import Hit, Page
from citewell.pipeline.chosen_providers import (
    bing_endpoint,
    chosen_providers,
    is_about_citewell,
    is_collection,
    keys_of,
    searched_collections,
    searches_the_world,
    text_of,
)
from citewell.pipeline.collections import HANDBOOK, catalog_of
from citewell.pipeline.handbook import ensure_handbook, handbook_folder
from citewell.retriever.encoder.encoder import DualEncoder
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.parts import parts
from citewell.retriever.rarity import beginnings, rarest
from citewell.retriever.search.api import SearchHttp
from citewell.retriever.search.fusion import within_sites
from citewell.retriever.search.keys import BING_ENDPOINT_VARIABLE, BING_KEY
from citewell.retriever.search.metasearch import Metasearch, SearchLimits, SearchResult
from citewell.retriever.search.presets import PRESETS
from citewell.retriever.search.provider import PageSource, SearchProvider, Speller
from citewell.retriever.search.query import Query
from citewell.retriever.search.retry import Retry

OFFLINE = "Ask your own files if you are offline: citewell index FOLDER --collection NAME, then name it."
_NO_FILTERS = Query("")


class FoundBefore(NamedTuple):
    """What some queries have found, and the seconds that it took."""

    queries: tuple[Query, ...]
    result: SearchResult
    seconds: float


@dataclass(frozen=True, slots=True)
class OpenedSearch:
    """The combined providers, the store of pages that need no fetching, if any, and the filters."""

    metasearch: Metasearch
    pages: PageSource | None = None
    query: Query = _NO_FILTERS
    """A query without its text."""
    handbook: OpenedSearch | None = None
    """What questions about Citewell search instead, where nothing is named."""
    before: FoundBefore | None = None
    """What was found before the models were loaded."""

    def for_question(self, question: str) -> OpenedSearch:
        """Return the search for a question: that of the handbook for one about Citewell."""
        if self.handbook is None or not is_about_citewell(question):
            return self
        return (
            self.handbook if self.handbook.query == self.query else replace(self.handbook, query=self.query)
        )

    async def find(self, *queries: Query) -> SearchResult:
        """Search; raises as `Metasearch.search`, and says how to search offline where nothing is named."""
        if self.before is not None and self.before.queries == queries:
            return self.before.result
        try:
            return await self.metasearch.search(*queries)
        except ServiceUnreachableError as error:
            if self.handbook is None or isinstance(error, ServiceOfflineError):
                raise
            raise ServiceUnreachableError(error.message, OFFLINE) from error

    async def ahead(self, question: str, limit: int) -> OpenedSearch:
        """Return the search with what it finds for a question, if it asks the web; raises as `find` does."""
        if self.for_question(question) is not self or not self.metasearch.finds_web_pages:
            return self
        queries = self.queries([question, *parts(question)], limit)
        began = time.perf_counter()
        result = await self.find(*queries)
        return replace(self, before=FoundBefore(queries, result, time.perf_counter() - began))

    def queries(self, texts: Sequence[str], limit: int) -> tuple[Query, ...]:
        """Return a query for each of the texts, with the filters."""
        return tuple(replace(self.query, text=text, limit=limit) for text in dict.fromkeys(texts))

    def seconds_ahead(self, *queries: Query) -> float:
        """Return how long these queries took, if they were asked ahead; else 0."""
        before = self.before
        return before.seconds if before is not None and before.queries == queries else 0.0

    def count(self) -> int | None:
        """Return the number of pages that are searched; None for those of the web."""
        return None if self.pages is None or self.metasearch.finds_web_pages else self.pages.count()

    def other_pages(self, query: Query, found: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return the stored pages that were not found, if they are worth reading as well.

        That is so if no others are searched, there are at most as many as a query finds, and those found lack
        the rarest word of the query: one of the others may answer in other words, as a question about
        bonfires may speak of burning.
        """
        if len(found) >= query.limit:
            return ()  # without counting the pages of a large collection
        count = self.count()
        if self.pages is None or count is None or count > query.limit:
            return ()
        known = [hit.url for hit in found]
        word = rarest(beginnings(content_words(query.text)))
        if any(_has(page, word) for page in filter(None, map(self.pages.page, known))):
            return ()
        others = [url for url in self.pages.urls() if url not in known]
        pages = filter(None, map(self.pages.page, others))
        hits = [Hit(page.url, page.title, "", self.metasearch.name) for page in pages]
        return tuple(within_sites(hits, query))

    def spelled(self, question: str) -> str:
        """Return the question with corrected spelling, if only stored pages are searched.

        Search engines of the web correct spelling themselves.
        """
        if isinstance(self.pages, Speller) and not self.metasearch.finds_web_pages:
            return self.pages.spelled(question)
        return question


def _has(page: Page, beginning: str) -> bool:
    texts = (page.title, *(" ".join((*each.headings, each.text)) for each in page.passages))
    return any(beginning in beginnings(words(text)) for text in texts)


@asynccontextmanager
async def open_search(
    settings: Settings, environment: Mapping[str, str] = os.environ
) -> AsyncGenerator[OpenedSearch, None]:
    """Open the search of the settings alone.

    Its connections are closed at the end. Raises as `build_search`.
    """
    async with open_search_http(settings) as http:
        yield build_search(settings, http, partial(configured_encoder, settings), environment)


def open_search_http(settings: Settings) -> SearchHttp:
    """Return the client of search providers, to be entered with `async with`.

    Circuit breakers are per client.
    """
    return SearchHttp(Retry(seconds=settings.search.seconds), user_agent=settings.fetch.user_agent)


def build_search(
    settings: Settings,
    http: SearchHttp,
    encoder: Callable[[], DualEncoder],
    environment: Mapping[str, str] = os.environ,
) -> OpenedSearch:
    """Return the search of the settings over `http`.

    `encoder` loads what dense collections need, when they do. Raises `InputError` for a provider that does
    not exist or has no address, and `CollectionError` for a missing or damaged collection. A missing key is
    an error of each search.
    """
    wanted = settings.search
    limits = SearchLimits(wanted.seconds, wanted.per_domain)
    names = chosen_providers(wanted, environment)
    handbook = None
    if searches_the_world(wanted) and handbook_folder() is not None:
        own = _provider("collection", settings, http, environment, encoder)
        handbook = OpenedSearch(Metasearch([own], limits), _pages(own), filters(wanted))
    providers = [_provider(name, settings, http, environment, encoder) for name in names]
    pages = _pages(*providers) or (handbook.pages if handbook else None)
    return OpenedSearch(Metasearch(providers, limits), pages, filters(wanted), handbook)


def _pages(*providers: SearchProvider) -> PageSource | None:
    from citewell.retriever.collection.collection import Collection
    from citewell.retriever.collection.several import SeveralCollections

    collections = [provider for provider in providers if isinstance(provider, Collection)]
    return SeveralCollections(collections) if len(collections) > 1 else next(iter(collections), None)


def filters(wanted: SearchSettings) -> Query:
    """Return the settings' filters, as a query without its text."""
    return Query(
        "",
        wanted.hits,
        wanted.language,
        wanted.country.upper(),
        wanted.recency or None,
        wanted.sites,
        tuple(domain for name in wanted.deny_domains for domain in PRESETS.get(name, (name,))),
    )


def _provider(
    name: str,
    settings: Settings,
    http: SearchHttp,
    environment: Mapping[str, str],
    encoder: Callable[[], DualEncoder],
) -> SearchProvider:
    wanted = settings.search
    if is_collection(name):
        return _collection(searched_collections([name], wanted)[0], settings, encoder)
    match name:
        case "searxng":
            from citewell.retriever.search.searxng import SearxngProvider

            address = "search.searxng_url, for example CITEWELL_SEARCH__SEARXNG_URL=http://localhost:8888"
            return SearxngProvider(http, _addressed(name, wanted.searxng_url, address))
        case "wikipedia":
            from citewell.retriever.search.wikipedia import WikipediaProvider

            return WikipediaProvider(http, wanted.wikipedia_url)
        case "ddgs":
            from citewell.retriever.search.ddgs import DdgsProvider

            return DdgsProvider(wanted.seconds)
        case "bing":
            from citewell.retriever.search.bing import BingProvider

            endpoint = _addressed(
                name, bing_endpoint(wanted, environment), f"--bing-endpoint or {BING_ENDPOINT_VARIABLE}"
            )
            return BingProvider(
                http, endpoint, BING_KEY.found_in(text_of(wanted, BING_KEY.setting), environment)
            )
    return _keyed(name, wanted, http, keys_of(name, wanted, environment))


def _collection(name: str, settings: Settings, encoder: Callable[[], DualEncoder]) -> SearchProvider:
    from citewell.retriever.collection.collection import Collection

    if name == HANDBOOK:
        ensure_handbook(settings)
    return Collection(catalog_of(settings, name).open(name), encoder)


def configured_encoder(
    settings: Settings, on_step: Callable[[str, str], None] = lambda name, step: None
) -> DualEncoder:
    """Return the encoder of the settings, loaded; `on_step` is called at each step of its conversion."""
    wanted = settings.retriever
    return load_encoder(
        wanted.encoder,
        settings.cache_dir,
        max_tokens=wanted.max_tokens,
        threads=settings.threads,
        engine=wanted.engine,
        on_step=on_step,
    )


def _keyed(name: str, wanted: SearchSettings, http: SearchHttp, keys: tuple[str, ...]) -> SearchProvider:
    match name:
        case "brave":
            from citewell.retriever.search.brave import BraveProvider

            return BraveProvider(http, keys[0])
        case "tavily":
            from citewell.retriever.search.tavily import TavilyProvider

            return TavilyProvider(http, keys[0])
        case "serpapi":
            from citewell.retriever.search.serpapi import SerpApiProvider

            return SerpApiProvider(http, keys[0])
        case _:
            from citewell.retriever.search.google import GoogleProvider

            return GoogleProvider(http, keys[0], keys[1])


def _addressed(name: str, address: str, setting: str) -> str:
    if not address:
        raise InputError(f"The provider {name} needs the address of a service.", f"Set {setting}")
    return address
