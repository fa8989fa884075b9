"""The pipeline of the service: its models are loaded once, its options differ by question."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
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
from citewell.generator.auto import EXTRACTIVE
from citewell.generator.completer import Completer
from citewell.pipeline.browsing import browser_limits, browsing_of
from citewell.pipeline.build import pipeline_of, written_by
from citewell.pipeline.chosen_providers import (
    chosen_providers,
    searched_collections,
    searches_the_world,
)
from citewell.pipeline.collections import HANDBOOK, catalog_of, collection_names
from citewell.pipeline.conversation.asking import ask_in_turn
from citewell.pipeline.fetching import open_fetcher
from citewell.pipeline.parts import Parts, open_parts
from citewell.pipeline.pipeline import Pipeline
from citewell.pipeline.providers import OpenedSearch, filters
from citewell.pipeline.reading import PagePart, read_page, read_part
from citewell.pipeline.web import web_of
from citewell.retriever.collection.protocol import CollectionVersion
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.rank import Ranker
from citewell.retriever.search.query import Query
from citewell.server.work.generator_names import generator_names
from citewell.server.work.icons import SiteIcons
from citewell.server.work.options import QuestionOptions
from citewell.server.work.places import check_places, named_providers
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
    versions: tuple[CollectionVersion, ...]


class Pipelines:
    """The pipeline shared by all questions, with the options of each."""

    def __init__(self, pipeline: Pipeline, parts: Parts) -> None:
        """Vary `pipeline`, which was made from `parts`."""
        settings = parts.settings
        self.icons = SiteIcons(parts.fetcher)
        self._pipeline = pipeline
        self._parts = parts
        self._browsed: dict[tuple[str, ...], _Browsed] = {}
        self._opened_policy: Opened | None = None
        self._opened_fetcher: HttpFetcher | None = None
        self._opening_fetcher = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._settings = settings
        self._fingerprint = _fingerprint(settings)
        self._lookups = ThreadPoolExecutor(2, "collection-version")  # where no search makes them wait
        self._usual = _usual_collections(settings.search)
        self._opened: OrderedDict[tuple[str, ...], _Opened] = OrderedDict()
        self._opening_collection = asyncio.Lock()
        self._names = generator_names(settings)
        self._writers: dict[str, Pipeline] = {}
        self._opening_writer = asyncio.Lock()
        self._opening_policy = asyncio.Lock()  # loading a policy takes long, and most questions need none
        self._public_urls: dict[tuple[str, ...], _KnownUrls] = {}

    @property
    def generator(self) -> str:
        """The short name of the generator in use."""
        return self._names.shown(self._pipeline.generator.name)

    @property
    def generators(self) -> tuple[str, ...]:
        """The short names of the generators that a question may choose, the usual one first."""
        listed = map(self._names.shown, self._settings.server.generators)
        return tuple(dict.fromkeys((self.generator, *listed, EXTRACTIVE)))

    @property
    def writes(self) -> bool:
        """Whether a language model writes answers."""
        return self._pipeline.writes

    @property
    def ranker(self) -> Ranker:
        """The ranker of passages, with its encoder."""
        return self._pipeline.ranker

    def judges(self, generator: str = "") -> bool:
        """Return whether a language model judges what a generator writes, as one not loaded yet may."""
        if generator in ("", self.generator):
            return self._pipeline.judge is not None
        if generator == EXTRACTIVE:
            return False
        return generator not in self._writers or self._writers[generator].judge is not None

    async def version(self, options: QuestionOptions) -> str:
        """Return the settings and the collections' versions, on which answers depend besides the options.

        Raises `NoCollectionError`.
        """
        versions = [await self._collection_version(name) for name in self._collections(options)]
        return ":".join([self._fingerprint, *(part for version in versions for part in version)])

    async def begin(self, options: QuestionOptions) -> AsyncGenerator[Event, None]:
        """Return the events of the pipeline, or of browsing, in the form that the options ask for.

        Raises `InputError`, `NoCollectionError`, and the errors of a pipeline.
        """
        pipeline = await self._shaped(options)
        if options.mode == "browse":
            web, policy = await self.web(options), await self._policy()
            browsing = browsing_of(self._answered_by(options.generator), pipeline, web, policy)
            actions = min(browsing.limits.actions, options.actions or browsing.limits.actions)
            return ask_in_turn(
                pipeline, options.question, options.turns, partial(browsing.ask, actions=actions)
            )
        if options.mode == "retrieve":
            return pipeline.retrieve(options.question)
        return ask_in_turn(pipeline, options.question, options.turns)

    def _answered_by(self, generator: str) -> Settings:
        """Return the settings of browsing: a generator that a question names answers, not the policy."""
        if not generator:
            return self._settings
        browser = self._settings.browser.model_copy(update={"answerer": "generator"})
        return self._settings.model_copy(update={"browser": browser})

    async def read(self, options: QuestionOptions, address: str, start: int) -> PagePart:
        """Return a page of the web or of the collection, from the passage `start` on.

        Raises `NoCollectionError`, and as `read_page` and `read_part` do.
        """
        pipeline = await self._shaped(options)
        return await read_part(pipeline, await read_page(pipeline, address), start)

    async def read_public(self, options: QuestionOptions, address: str, start: int) -> PagePart:
        """Return a part of a page by its public name or URL, under its public name.

        Networks that the settings open for questions are not read: the caller chooses the address. Raises as
        `read` does.
        """
        pipeline = await self._shaped(options)
        urls = await self.public_urls(options)
        pages = pipeline.search.pages
        if pages is not None:
            for url in urls.addresses(address.strip()):
                if page := await asyncio.to_thread(pages.page, url):
                    return urls.outside(await read_part(pipeline, page, start))
        if self._settings.fetch.allow_networks:
            pipeline = replace(pipeline, fetch=(await self._public_fetcher()).fetch)
        return urls.outside(await read_part(pipeline, await read_page(pipeline, address), start))

    async def _public_fetcher(self) -> HttpFetcher:
        async with self._opening_fetcher:
            if self._opened_fetcher is None:
                fetch = self._settings.fetch.model_copy(update={"allow_networks": ()})
                settings = self._settings.model_copy(update={"fetch": fetch})
                self._opened_fetcher = await self._stack.enter_async_context(
                    open_fetcher(settings, hosts=self._parts.fetcher.hosts)
                )
            return self._opened_fetcher

    async def outside(self, options: QuestionOptions) -> Callable[[Event], Event]:
        """Return what replaces files and folders of this computer in the events of a question.

        Raises `NoCollectionError`.
        """
        urls = await self.public_urls(options)
        return lambda event: self._names.outside(urls.outside(event))

    async def public_urls(self, options: QuestionOptions) -> PublicUrls:
        """Return the public names of the pages that may be found; raises `NoCollectionError`."""
        names = self._collections(options)
        versions = tuple([await self._collection_version(name) for name in names])
        known = self._public_urls.get(names)
        if known is None or known.versions != versions:
            urls = PublicUrls({name: await asyncio.to_thread(self._sources, name) for name in names})
            known = self._public_urls[names] = _KnownUrls(urls, versions)
            if len(self._public_urls) > _MAX_OPEN:
                self._public_urls.pop(next(iter(self._public_urls)))
        return known.urls

    def _collections(self, options: QuestionOptions) -> tuple[str, ...]:
        """Return the names of the collections that a question searches."""
        return options.collection or (() if options.search else self._usual)

    def check(self, options: QuestionOptions) -> None:
        """Raise `InputError` if the question or its filters cannot be used."""
        self._pipeline.checked(options.question)
        self._providers(options)
        if options.generator and options.generator not in self.generators:
            raise InputError(
                f"The generator {options.generator!r} cannot be chosen here.",
                f"Choose one of {', '.join(self.generators)}; the setting server.generators allows others.",
            )
        wanted = self._settings.search
        try:
            asked = SearchSettings(sites=options.sites, language=options.language)
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
        place = self._providers(options)
        search = (await self._search(options)).for_question(options.question)
        query = self._filtered(options)
        if query != search.query:
            return web_of(self._parts, search, query)
        known = self._browsed.get(place)
        if known is None or known.search is not search:
            known = self._browsed[place] = _Browsed(search, web_of(self._parts, search))
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
        """Close the policy and the other generators."""
        self._lookups.shutdown(wait=False)
        await self._stack.aclose()

    async def _shaped(self, options: QuestionOptions) -> Pipeline:
        search = replace(await self._search(options), query=self._filtered(options))
        shaped = self._pipeline.varied(k=options.k, best_of=options.best_of, search=search)
        if options.generator == EXTRACTIVE:
            return shaped.quoting(self._settings.generator.sentences)
        if options.generator in ("", self.generator):
            return shaped
        return shaped.writing_as(await self._writer(options.generator))

    async def _writer(self, name: str) -> Pipeline:
        """Return the pipeline with another generator, loaded for the first question that names it."""
        async with self._opening_writer:
            if name not in self._writers:
                opening = written_by(self._pipeline, self._settings, self._names.full(name))
                try:
                    self._writers[name] = await self._stack.enter_async_context(opening)
                except CitewellError as error:
                    self._names.hide(error)
                    raise
            return self._writers[name]

    async def completer(self, generator: str) -> Completer | None:
        """Return the generator of a short name for other texts than answers.

        None for a generator that only quotes, or that users cannot choose. Raises the errors of loading it.
        """
        if generator == EXTRACTIVE or generator not in self.generators:
            return None
        writer = self._pipeline if generator == self.generator else await self._writer(generator)
        return writer.generator.completer

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
        """Return the search for a question: of the places that it names, or of the settings."""
        place = self._providers(options)
        if not place:
            return self._pipeline.search
        async with self._opening_collection:
            identities = [(await self._collection_version(name)).identity for name in options.collection]
            identity = " ".join(identities)
            known = self._opened.get(place)
            if known is not None and known.identity == identity:
                self._opened.move_to_end(place)
                return known.search
            wanted = self._settings.search.model_copy(update={"providers": place})
            settings = self._settings.model_copy(update={"search": wanted})
            search = await asyncio.to_thread(self._parts.search, settings)
            self._opened[place] = _Opened(search, identity)
            self._opened.move_to_end(place)
            if len(self._opened) > _MAX_OPEN:
                oldest, _ = self._opened.popitem(last=False)
                self._browsed.pop(oldest, None)
            return search

    def _providers(self, options: QuestionOptions) -> tuple[str, ...]:
        """Return the providers of the places that a question names; raise `InputError` if one is missing."""
        check_places(options.search, self._settings.search)
        return named_providers(options.collection, options.search, self._settings.search)

    def _sources(self, name: str) -> Sequence[str]:
        with closing(catalog_of(self._settings, name).open(name)) as store:
            return store.sources()

    async def _collection_version(self, name: str) -> CollectionVersion:
        loop = asyncio.get_running_loop()
        version = await loop.run_in_executor(self._lookups, catalog_of(self._settings, name).version, name)
        if version is None and name != HANDBOOK:  # which is made when it is opened
            raise NoCollectionError(name, await asyncio.to_thread(collection_names, self._settings))
        return version or CollectionVersion("", "")


def _usual_collections(wanted: SearchSettings) -> tuple[str, ...]:
    """Return the names of the collections of the settings' search, and of what it searches in its place."""
    handbook = (wanted.collection,) if searches_the_world(wanted) else ()
    return (*searched_collections(chosen_providers(wanted), wanted), *handbook)


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
