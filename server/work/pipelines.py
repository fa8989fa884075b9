"""The pipeline of the service, with its models loaded once, in the shape that each question wants."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from core.errors import CitewellError, InputError
from core.events import Event
from core.settings import SearchSettings, Settings
from pipeline.build import open_pipeline
from pipeline.handbook import HANDBOOK
from pipeline.pipeline import Pipeline
from pipeline.providers import Search, chosen_providers, filters, open_search
from retriever.collection.collection import collection_folder, collection_names
from server.work.order import Order

_MOST_OPEN = 16  # collections beside that of the settings


class NoCollectionError(CitewellError):
    """There is no collection of this name."""

    status = 404

    def __init__(self, name: str) -> None:
        """The collection `name` was asked for."""
        super().__init__(f"There is no collection {name!r}.", "GET /v1/collections lists them.")


class _Opened(NamedTuple):
    search: Search
    stack: AsyncExitStack
    inode: int


class Pipelines:
    """Gives each question the one pipeline in the shape that it wants."""

    def __init__(self, pipeline: Pipeline, settings: Settings) -> None:
        """Vary `pipeline`, which was made from `settings`."""
        self._pipeline = pipeline
        self._settings = settings
        self._fingerprint = _fingerprint(settings)
        self._searches_collection = "collection" in chosen_providers(settings.search)
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._opening = asyncio.Lock()

    @property
    def generator(self) -> str:
        """The name of the generator in use."""
        return self._pipeline.generator

    def version(self, order: Order) -> str:
        """What an answer depends on beside its order: the settings, and the state of the collection.

        Raises `NoCollectionError`.
        """
        name = order.collection or self._settings.search.collection
        if order.collection or self._searches_collection:
            return f"{self._fingerprint}:{self._state(name)}"
        return self._fingerprint

    async def run(self, order: Order) -> AsyncGenerator[Event, None]:
        """Work on an order.

        Raises `InputError` for what cannot be asked, `NoCollectionError`, and what a pipeline raises.
        """
        pipeline = await self._shaped(order)
        work = pipeline.ask if order.mode == "answer" else pipeline.retrieve
        async with aclosing(work(order.question)) as events:
            async for event in events:
                yield event

    def check(self, order: Order) -> None:
        """Raise `InputError` where the question or the filters of an order cannot be used."""
        self._pipeline.checked(order.question)
        wanted = self._settings.search
        try:
            asked = SearchSettings(
                sites=order.sites, language=order.language, collection=order.collection or wanted.collection
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

    async def close(self) -> None:
        """Close the collections that were opened."""
        while self._opened:
            await self._opened.popitem()[1].stack.aclose()

    async def _shaped(self, order: Order) -> Pipeline:
        wanted = self._settings.search
        asked = SearchSettings(sites=order.sites)  # `check` has shown that it can be made
        query = filters(wanted)
        query = replace(
            query,
            sites=asked.sites or query.sites,
            language=order.language or query.language,
            recency=order.recency or query.recency,
        )
        shaped = self._pipeline.varied(k=order.k, best_of=order.best_of, query=query)
        if order.extractive:
            shaped = shaped.quoting(self._settings.generator.sentences)
        if order.collection is None:
            return shaped
        search = await self._collection(order.collection)
        return shaped.varied(search=search.metasearch, pages=search.pages)

    async def _collection(self, name: str) -> Search:
        async with self._opening:
            inode = self._inode(name)
            known = self._opened.get(name)
            if known is not None and known.inode == inode:
                self._opened.move_to_end(name)
                return known.search
            if known is not None:
                await self._opened.pop(name).stack.aclose()
            stack = AsyncExitStack()
            wanted = self._settings.search.model_copy(
                update={"collection": name, "providers": ("collection",)}
            )
            settings = self._settings.model_copy(update={"search": wanted})
            search = await stack.enter_async_context(
                open_search(settings, encoder=lambda: self._pipeline.encoder)
            )
            self._opened[name] = _Opened(search, stack, inode)
            if len(self._opened) > _MOST_OPEN:
                await self._opened.popitem(last=False)[1].stack.aclose()
            return search

    def _inode(self, name: str) -> int:
        """Which file holds the pages: a collection that was removed and made again has another."""
        if name not in collection_names(self._settings.data_dir) and name != HANDBOOK:
            raise NoCollectionError(name)
        pages = _stat(collection_folder(self._settings.data_dir, name) / "pages.db")
        return pages.st_ino if pages else 0

    def _state(self, name: str) -> str:
        """Which pages a collection holds: each run that changes them writes the index anew."""
        inode = self._inode(name)
        index = _stat(collection_folder(self._settings.data_dir, name) / "index" / "meta.json")
        return f"{inode}:{index.st_ino}:{index.st_mtime_ns}" if index else f"{inode}"


def _stat(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except FileNotFoundError:
        return None


def _fingerprint(settings: Settings) -> str:
    """The same for settings that give the same answers. Keys are masked in it."""
    parts = settings.model_dump_json(exclude={"server", "data", "cache_dir", "threads", "crawl"})
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


@asynccontextmanager
async def open_pipelines(settings: Settings) -> AsyncGenerator[Pipelines, None]:
    """Load the models that the settings name, for all questions; raises as `open_pipeline` does."""
    async with open_pipeline(settings) as pipeline:
        pipelines = Pipelines(pipeline, settings)
        try:
            yield pipelines
        finally:
            await pipelines.close()
