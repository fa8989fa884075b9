"""The parts that one process opens once and shares between pipeline, browsers and service.

Each host's connections, each provider's circuit breaker and the memory of pages are counted in these parts:
a second copy of one would double its limit.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Lock

from citewell.core.build_cache import OnStep
from citewell.core.settings import Settings
from citewell.generator.orders.detector import OrderDetector
from citewell.pipeline.fetching import open_extractor, open_fetcher, sandbox_limits
from citewell.pipeline.providers import (
    OpenedSearch,
    build_search,
    configured_encoder,
    open_search_http,
)
from citewell.retriever.answer_reader import load_answer_reader
from citewell.retriever.encoder.encoder import DualEncoder
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.fetch.memory_budget import MemoryBudget
from citewell.retriever.rank import Ranker
from citewell.retriever.remembering_encoder import RememberingEncoder
from citewell.retriever.reranking import load_reranker
from citewell.retriever.search.api import SearchHttp


def silent(model: str, step: str) -> None:
    """Ignore the steps of a conversion."""


@dataclass
class LazyRanker:
    """A loader of the settings' encoder, at the first use and only once."""

    settings: Settings
    on_step: OnStep = silent
    _loaded: Ranker | None = None
    _lock: Lock = field(default_factory=Lock)

    def get(self) -> Ranker:
        """Return the ranker with its encoder loaded."""
        with self._lock:
            if self._loaded is None:
                self._loaded = build_ranker(self.settings, on_step=self.on_step)
            return self._loaded


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The parts that a process shares between its pipeline and its browsers; see `open_parts`."""

    settings: Settings
    fetcher: HttpFetcher
    sandbox: Sandbox
    extractor: Extractor
    search_http: SearchHttp
    memory: MemoryBudget
    lazy_ranker: LazyRanker

    @property
    def ranker(self) -> Ranker:
        """The ranker of passages; its encoder is loaded at the first use."""
        return self.lazy_ranker.get()

    @property
    def orders(self) -> OrderDetector:
        """The detector of orders to language models, with the ranker's encoder."""
        encoder = self.ranker.encoder
        return OrderDetector(encoder.name, encoder.encode_passages)

    def search(self, settings: Settings | None = None) -> OpenedSearch:
        """Return the search of these settings, by default of the parts' own.

        Raises as `build_search` does.
        """
        return build_search(settings or self.settings, self.search_http, self._encoder)

    def _encoder(self) -> DualEncoder:
        return self.ranker.encoder


@asynccontextmanager
async def open_parts(settings: Settings, *, on_step: OnStep = silent) -> AsyncGenerator[Parts, None]:
    """Open the fetcher, the sandbox and the search client of the settings, and close them at the end.

    Processes start and connections are made when they are first needed. Raises `SettingsError` for an invalid
    proxy, and `InputError` if rendering is on and no browser is installed.
    """
    async with (
        open_search_http(settings) as search_http,
        open_fetcher(settings) as fetcher,
        Sandbox(sandbox_limits(settings)) as sandbox,
        open_extractor(settings, fetcher, sandbox) as extractor,
    ):
        yield Parts(
            settings=settings,
            fetcher=fetcher,
            sandbox=sandbox,
            extractor=extractor,
            search_http=search_http,
            memory=MemoryBudget(page_bytes=settings.fetch.max_bytes),
            lazy_ranker=LazyRanker(settings, on_step),
        )


def build_ranker(settings: Settings, *, on_step: OnStep = silent) -> Ranker:
    """Return the ranker of the settings, with its models loaded."""
    encoder = RememberingEncoder(configured_encoder(settings, on_step=on_step))
    return Ranker(
        encoder,
        prefilter=settings.retriever.prefilter,
        reranker=load_reranker(settings, on_step),
        reader=load_answer_reader(settings, on_step),
    )
