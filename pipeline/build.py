"""Composes a pipeline from settings. Whatever asks a question builds its pipeline here."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from core.conversion import converted
from core.errors import InputError, ModelError, WeightsMissingError
from core.settings import Settings
from core.weights import locate
from generator.backend import GeneratorBackend
from generator.extractive import ExtractiveGenerator
from pipeline.handbook import HANDBOOK, ensure_handbook
from pipeline.pipeline import Limits, Pipeline
from retriever.encoder.ct2 import Ct2Encoder
from retriever.fetch.download import FetchLimits
from retriever.fetch.guard import AddressGuard
from retriever.fetch.http import HttpFetcher
from retriever.rank import Ranker
from retriever.search.provider import PageSource, SearchProvider
from scorer.scorer import SupportScorer

PROVIDERS = ("collection", "searxng", "wikipedia")
EXTRACTIVE = "extractive"

OnStep = Callable[[str, str], None]
"""Told `(model, step)` while weights are converted."""


def _silent(model: str, step: str) -> None:
    """Tell nobody."""


@asynccontextmanager
async def open_pipeline(settings: Settings, *, on_step: OnStep = _silent) -> AsyncGenerator[Pipeline, None]:
    """Build the pipeline that the settings describe, and close its connections at the end.

    Raises `CitewellError` where a part is unknown, missing or damaged. Only the generator's weights may be
    missing: answers are then extractive, and say so.
    """
    search, pages = build_search(settings)
    ranker = build_ranker(settings, on_step=on_step)
    chosen = build_generator(settings, ranker, on_step=on_step)
    async with open_fetcher(settings) as fetcher:
        yield Pipeline(
            search,
            pages,
            fetcher.get,
            ranker,
            chosen.backend,
            SupportScorer(),
            Limits(
                hits=settings.search.hits,
                k=settings.retriever.k,
                deadline=settings.fetch.deadline,
                min_relevance=settings.retriever.min_relevance,
                threshold=settings.citations.threshold,
                drop_unsupported=settings.citations.drop_unsupported,
                best_of=settings.generator.best_of,
                question_characters=settings.question_characters,
            ),
            chosen.notices,
        )


def open_fetcher(settings: Settings) -> HttpFetcher:
    """Return a fetcher with the settings' limits and guard, to be entered with `async with`."""
    return HttpFetcher(
        FetchLimits(body_bytes=settings.fetch.max_bytes),
        AddressGuard(allow_networks=settings.fetch.allow_networks),
    )


def build_search(settings: Settings) -> tuple[SearchProvider, PageSource | None]:
    """The search provider of the settings, and what holds its pages, where they need no fetching."""
    search = settings.search
    match search.provider:
        case "collection":
            from retriever.collection.collection import Collection

            if search.collection == HANDBOOK:
                ensure_handbook(settings)
            collection = Collection(settings.data_dir, search.collection)
            return collection, collection
        case "searxng":
            from retriever.search.searxng import SearxngProvider

            if not search.searxng_url:
                raise InputError(
                    "The provider searxng needs the address of an instance.",
                    "Set search.searxng_url, for example CITEWELL_SEARCH__SEARXNG_URL=http://localhost:8888",
                )
            return SearxngProvider(search.searxng_url, search.seconds), None
        case "wikipedia":
            from retriever.search.wikipedia import WikipediaProvider

            return WikipediaProvider(search.wikipedia_url, search.seconds), None
    raise InputError(
        f"There is no search provider {search.provider!r}.", f"Use one of {', '.join(PROVIDERS)}."
    )


def build_ranker(settings: Settings, *, on_step: OnStep = _silent) -> Ranker:
    """The ranker of the settings, with its encoder loaded."""
    name = settings.retriever.encoder
    folder = converted(name, settings.cache_dir, on_step)
    encoder = Ct2Encoder(folder, name, max_tokens=settings.retriever.max_tokens, threads=settings.threads)
    return Ranker(encoder, prefilter=settings.retriever.prefilter)


class ChosenGenerator(NamedTuple):
    """A generator, and what the person who asks should know about the choice."""

    backend: GeneratorBackend
    notices: tuple[str, ...] = ()


def build_generator(settings: Settings, ranker: Ranker, *, on_step: OnStep = _silent) -> ChosenGenerator:
    """The generator of the settings; the extractive one, with a notice, where weights are missing.

    Raises `ModelError` for a name that is neither a packaged generator nor a GGUF file.
    """
    wanted = settings.generator
    extractive = ExtractiveGenerator(ranker.scores, sentences=wanted.sentences)
    if wanted.name == EXTRACTIVE:
        return ChosenGenerator(extractive)
    from generator.local import LocalGenerator

    try:
        if not locate(wanted.name).is_gguf:
            raise ModelError(
                f"The model {wanted.name} cannot be used as a generator: it is no GGUF file.",
                "Use --generator SmolLM2-135M-Instruct, a path such as model.gguf, or extractive.",
            )
        folder = converted(wanted.name, settings.cache_dir, on_step)
    except WeightsMissingError as error:
        return ChosenGenerator(extractive, (f"{error} The answer is extractive instead.",))
    backend = LocalGenerator(
        folder,
        wanted.name,
        prompt_tokens=wanted.prompt_tokens,
        answer_tokens=wanted.answer_tokens,
        temperature=wanted.temperature,
        seed=wanted.seed,
        threads=settings.threads,
    )
    return ChosenGenerator(backend)
