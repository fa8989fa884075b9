"""The pipeline of the service: its models are loaded once, its options differ by question."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pydantic import ValidationError

from citewell.browser.limits import BrowserLimits
from citewell.browser.live_web import LiveWeb
from citewell.browser.policies.opening import Opened, open_policy
from citewell.core.errors import CitewellError, InputError
from citewell.core.events import Event
from citewell.core.settings import SearchSettings, Settings
from citewell.core.types import Page
from citewell.pipeline.browsing import Browsing, browser_limits
from citewell.pipeline.build import pipeline_of
from citewell.pipeline.collections import HANDBOOK, catalog_of, collection_names
from citewell.pipeline.conversation.asking import ask_in_turn
from citewell.pipeline.fetching import open_fetcher
from citewell.pipeline.parts import Parts, open_parts
from citewell.pipeline.pipeline import Pipeline
from citewell.pipeline.providers import OpenedSearch, chosen_providers, filters, searches_the_world
from citewell.pipeline.reading import read_page
from citewell.pipeline.web import web_of
from citewell.retriever.collection.protocol import CollectionVersion
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.rank import Ranker
from citewell.retriever.search.query import Query
from citewell.server.work.options import QuestionOptions
from citewell.server.work.public_urls import PublicUrls

_MAX_OPEN = 16  # collections besides that of the settings
_MAX_NAMED = 20  # collections in a hint


class NoCollectionError(CitewellError):
    """The collection does not exist."""

    status = 404

    def __init__(self, name: str, known: Sequence[str]) -> None:
        """The collection `name` was requested; `known` are the collections that exist."""
        super().__init__(
            f"The collection {name!r} does not exist.",
            f"Collections: {', '.join(known[:_MAX_NAMED])}{', …' if len(known) > _MAX_NAMED else '.'}",
        )


class _Opened(NamedTuple):
    search: OpenedSearch
    identity: str


class _Browsed(NamedTuple):
    search: OpenedSearch
    web: LiveWeb


class _KnownUrls(NamedTuple):
    urls: PublicUrls
    version: CollectionVersion


class Pipelines:
    """The pipeline shared by all questions, with the options of each."""

    def __init__(self, pipeline: Pipeline, parts: Parts) -> None:
        """Vary `pipeline`, which was made from `parts`."""
        settings = parts.settings
        self._pipeline = pipeline
        self._parts = parts
        self._browsed: dict[str, _Browsed] = {}
        self._opened_policy: Opened | None = None
        self._opened_fetcher: HttpFetcher | None = None
        self._opening_fetcher = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._settings = settings
        self._fingerprint = _fingerprint(settings)
        self._lookups = ThreadPoolExecutor(2, "collection-version")  # where no search makes them wait
        chosen = chosen_providers(settings.search)
        self._searches_collection = "collection" in chosen or searches_the_world(settings.search)
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._opening_collection = asyncio.Lock()
        self._opening_policy = asyncio.Lock()  # loading a policy takes long, and most questions need none
        self._public_urls: dict[str, _KnownUrls] = {}

    @property
    def generator(self) -> str:
        """The name of the generator in use."""
        return self._pipeline.generator.name

    @property
    def writes(self) -> bool:
        """Whether a language model writes answers."""
        return self._pipeline.writes

    @property
    def ranker(self) -> Ranker:
        """The ranker of passages, with its encoder."""
        return self._pipeline.ranker

    @property
    def judges(self) -> bool:
        """Whether a language model judges what is written."""
        return self._pipeline.judge is not None

    async def version(self, options: QuestionOptions) -> str:
        """Return the settings and the collection's version, on which an answer depends besides its options.

        Raises `NoCollectionError`.
        """
        name = options.collection or self._settings.search.collection
        if options.collection or (self._searches_collection and not options.search):
            return f"{self._fingerprint}:{':'.join(await self._collection_version(name))}"
        return self._fingerprint

    async def begin(self, options: QuestionOptions) -> AsyncGenerator[Event, None]:
        """Return the events of the pipeline, or of browsing, in the form that the options ask for.

        Raises `InputError`, `NoCollectionError`, and the errors of a pipeline.
        """
        pipeline = await self._shaped(options)
        if options.mode == "browse":
            web, policy = await self.web(options), await self._policy()
            wanted = self._settings.browser
            limits = browser_limits(wanted, policy.limits)
            browsing = Browsing(pipeline, web, policy, limits, best_of=wanted.best_of)
            actions = self.browser_limits(options.actions).actions
            return ask_in_turn(
                pipeline, options.question, options.turns, partial(browsing.ask, actions=actions)
            )
        if options.mode == "retrieve":
            return pipeline.retrieve(options.question)
        return ask_in_turn(pipeline, options.question, options.turns)

    async def read(self, options: QuestionOptions, address: str) -> Page:
        """Return a page of the web or of the collection; raises `NoCollectionError` and as `read_page`."""
        return await read_page(await self._shaped(options), address)

    async def read_public(self, options: QuestionOptions, address: str) -> Page:
        """Return a page by its public name or URL, under its public name.

        Networks that the settings open for questions are not read: the caller chooses the address. Raises as
        `read` does.
        """
        pipeline = await self._shaped(options)
        urls = await self.public_urls(options)
        pages = pipeline.search.pages
        if pages is not None:
            for url in urls.addresses(address.strip()):
                if page := await asyncio.to_thread(pages.page, url):
                    return urls.outside(page)
        if self._settings.fetch.allow_networks:
            pipeline = replace(pipeline, fetch=(await self._public_fetcher()).fetch)
        return urls.outside(await read_page(pipeline, address))

    async def _public_fetcher(self) -> HttpFetcher:
        async with self._opening_fetcher:
            if self._opened_fetcher is None:
                fetch = self._settings.fetch.model_copy(update={"allow_networks": ()})
                settings = self._settings.model_copy(update={"fetch": fetch})
                self._opened_fetcher = await self._stack.enter_async_context(
                    open_fetcher(settings, hosts=self._parts.fetcher.hosts)
                )
            return self._opened_fetcher

    async def public_urls(self, options: QuestionOptions) -> PublicUrls:
        """Return the public names of the pages that may be found; raises `NoCollectionError`."""
        name = options.collection or self._settings.search.collection
        if not options.collection and (options.search or not self._searches_collection):
            return PublicUrls(name, ())
        version = await self._collection_version(name)
        known = self._public_urls.get(name)
        if known is None or known.version != version:
            urls = PublicUrls(name, await asyncio.to_thread(self._sources, name))
            known = self._public_urls[name] = _KnownUrls(urls, version)
        return known.urls

    def check(self, options: QuestionOptions) -> None:
        """Raise `InputError` if the question or its filters cannot be used."""
        self._pipeline.checked(options.question)
        self._providers(options.search)
        wanted = self._settings.search
        try:
            asked = SearchSettings(
                sites=options.sites,
                language=options.language,
                collection=options.collection or wanted.collection,
            )
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(f"{first['loc'][0]} cannot be used: {first['msg']}.") from None
        if wanted.sites:
            for site in asked.sites:
                if not any(site == allowed or site.endswith(f".{allowed}") for allowed in wanted.sites):
                    raise InputError(
                        f"The site {site} is not among those that this service searches.",
                        f"It searches {', '.join(wanted.sites)}.",
                    )

    def browser_limits(self, actions: int | None) -> BrowserLimits:
        """Return the limits of a browsing person, with at most `actions` actions if given."""
        limits = browser_limits(self._settings.browser)
        return replace(limits, actions=min(limits.actions, actions or limits.actions))

    async def web(self, options: QuestionOptions) -> LiveWeb:
        """Return the web to browse for a question.

        Raises `NoCollectionError`, and `InputError` if a package that browsing needs is not installed.
        """
        name = f"{options.collection or ''}/{options.search}"
        search = (await self._search(options)).for_question(options.question)
        query = self._filtered(options)
        if query != search.query:
            return web_of(self._parts, search, query)
        known = self._browsed.get(name)
        if known is None or known.search is not search:
            known = self._browsed[name] = _Browsed(search, web_of(self._parts, search))
        return known.web

    async def _policy(self) -> Opened:
        """Return the policy of the settings, which is loaded for the first question that browses."""
        async with self._opening_policy:
            if self._opened_policy is None:
                self._opened_policy = await self._stack.enter_async_context(
                    open_policy(
                        self._settings.browser.policy,
                        self._settings,
                        relevance=self._pipeline.ranker.scores,
                        constrained=self._settings.browser.constrained,
                    )
                )
            return self._opened_policy

    async def close(self) -> None:
        """Close the policy."""
        self._lookups.shutdown(wait=False)
        await self._stack.aclose()

    async def _shaped(self, options: QuestionOptions) -> Pipeline:
        search = replace(await self._search(options), query=self._filtered(options))
        shaped = self._pipeline.varied(k=options.k, best_of=options.best_of, search=search)
        return shaped.quoting(self._settings.generator.sentences) if options.extractive else shaped

    def _filtered(self, options: QuestionOptions) -> Query:
        """Return a query without its text, with the filters of the settings and of a question."""
        asked = SearchSettings(sites=options.sites)  # `check` has validated it
        query = filters(self._settings.search)
        return replace(
            query,
            sites=asked.sites or query.sites,
            language=options.language or query.language,
            recency=options.recency or query.recency,
        )

    async def _search(self, options: QuestionOptions) -> OpenedSearch:
        """Return the search for a question: of a collection, of Wikipedia or the web, or of the settings."""
        name = options.collection
        if not name and not options.search:
            return self._pipeline.search
        providers = (*(("collection",) if name else ()), *self._providers(options.search))
        place = f"{name or ''}/{options.search}"
        async with self._opening_collection:
            identity = (await self._collection_version(name)).identity if name else ""
            known = self._opened.get(place)
            if known is not None and known.identity == identity:
                self._opened.move_to_end(place)
                return known.search
            update = {"providers": providers} | ({"collection": name} if name else {})
            wanted = self._settings.search.model_copy(update=update)
            settings = self._settings.model_copy(update={"search": wanted})
            search = await asyncio.to_thread(self._parts.search, settings)
            self._opened[place] = _Opened(search, identity)
            self._opened.move_to_end(place)
            if len(self._opened) > _MAX_OPEN:
                oldest, _ = self._opened.popitem(last=False)
                self._browsed.pop(oldest, None)
            return search

    def _providers(self, search: str) -> tuple[str, ...]:
        """Return the providers that a question may name; raise `InputError` if none is set up."""
        if search != "web":
            return (search,) if search else ()
        chosen = chosen_providers(self._settings.search)
        web = tuple(name for name in chosen if name not in ("collection", "wikipedia"))
        if not web:
            raise InputError("No search provider of the web is set up.", "Set one in search.providers.")
        return web

    def _sources(self, name: str) -> Sequence[str]:
        with closing(catalog_of(self._settings, name).open(name)) as store:
            return store.sources()

    async def _collection_version(self, name: str) -> CollectionVersion:
        loop = asyncio.get_running_loop()
        version = await loop.run_in_executor(self._lookups, catalog_of(self._settings, name).version, name)
        if version is None and name != HANDBOOK:  # which is made when it is opened
            raise NoCollectionError(name, await asyncio.to_thread(collection_names, self._settings))
        return version or CollectionVersion("", "")


def _fingerprint(settings: Settings) -> str:
    """Return a digest that is the same for settings that give the same answers. Keys are masked."""
    parts = settings.model_dump_json(exclude={"server", "data", "cache_dir", "threads", "crawl"})
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


@asynccontextmanager
async def open_pipelines(settings: Settings) -> AsyncGenerator[Pipelines, None]:
    """Load the models that the settings name, for all questions; raises as `open_pipeline` does."""
    async with open_parts(settings) as parts, pipeline_of(parts) as pipeline:
        pipelines = Pipelines(pipeline, parts)
        try:
            yield pipelines
        finally:
            await pipelines.close()
