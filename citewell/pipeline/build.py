"""Composes a pipeline from settings. Whatever asks a question builds its pipeline here."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from typing import NamedTuple

from citewell.core.errors import WeightsMissingError
from citewell.core.settings import GeneratorSettings, Settings
from citewell.generator.backend import GeneratorBackend
from citewell.generator.load import EXTRACTIVE, open_generator
from citewell.pipeline.cache import cached
from citewell.pipeline.pipeline import Limits, Pipeline
from citewell.pipeline.providers import configured_encoder, open_search
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.rendering import RenderingExtractor
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.memory_budget import MemoryBudget
from citewell.retriever.fetch.politeness import Hosts
from citewell.retriever.fetch.proxy import Proxy
from citewell.retriever.fetch.render import runs_as_root
from citewell.retriever.fetch.subresources import SubresourceFetcher
from citewell.retriever.questions import RememberedQuestions
from citewell.retriever.rank import Ranker
from citewell.retriever.stage import WaitPolicy
from citewell.scorer.scorer import SUPPORT, PreferenceJudge, Scorer, SupportScorer

OnStep = Callable[[str, str], None]
"""Told `(model, step)` while weights are converted."""


def _silent(model: str, step: str) -> None:
    """Tell nobody."""


@asynccontextmanager
async def open_pipeline(settings: Settings, *, on_step: OnStep = _silent) -> AsyncGenerator[Pipeline, None]:
    """Build the pipeline that the settings describe, and close its connections at the end.

    Raises `CitewellError` where a part is unknown, missing or damaged. Only the weights of the generator and
    of the scorer may be missing: answers are then extractive, or chosen by their citations, and say so.
    """
    ranker = build_ranker(settings, on_step=on_step)
    scorer = choose_scorer(settings)
    async with (
        choose_generator(settings, ranker, on_step=on_step) as chosen,
        open_search(settings, encoder=lambda: ranker.encoder) as search,
        open_fetcher(settings) as fetcher,
        open_extractor(settings, fetcher) as extractor,
    ):
        yield Pipeline(
            search.metasearch,
            search.pages,
            fetcher.fetch,
            extractor,
            ranker,
            chosen.backend,
            scorer.scorer,
            Limits(
                hits=settings.search.hits,
                k=settings.retriever.k,
                waiting=waiting(settings),
                min_relevance=settings.retriever.min_relevance,
                threshold=settings.citations.threshold,
                drop_unsupported=settings.citations.drop_unsupported,
                best_of=settings.generator.best_of,
                question_characters=settings.question_characters,
                min_gain=settings.scorer.min_gain,
            ),
            chosen.notices + scorer.notices + _render_notices(settings),
            search.query,
            MemoryBudget(page_bytes=settings.fetch.max_bytes),
        )


@asynccontextmanager
async def open_fetcher(
    settings: Settings, *, spacing: float | None = None, cache: bool = True
) -> AsyncGenerator[HttpFetcher, None]:
    """The fetcher of the settings; its connections are closed at the end.

    `spacing` is the minimum number of seconds between two pages of one host, by default the setting's.
    Without `cache`, every page is fetched again, whatever the settings say. Raises `SettingsError` for an
    invalid proxy.
    """
    wanted = settings.fetch
    proxy = wanted.proxy.get_secret_value()
    async with (
        web_fetcher(
            FetchLimits(body_bytes=wanted.max_bytes, connections=wanted.connections),
            AddressGuard(wanted.allow_networks, frozenset(wanted.allow_ports), wanted.refuse_networks),
            user_agent=wanted.user_agent,
            proxy=Proxy.parse(proxy) if proxy else None,
            hosts=Hosts(
                connections=wanted.host_connections,
                spacing=wanted.host_delay if spacing is None else spacing,
                patience=wanted.deadline,
            ),
            robots=wanted.robots,
            cache=partial(cached, settings=settings) if cache and wanted.cache else nullcontext,
        ) as fetcher,
    ):
        yield fetcher


def waiting(settings: Settings) -> WaitPolicy:
    """How long the settings let pages be waited for."""
    fetch = settings.fetch
    return WaitPolicy(fetch.deadline, fetch.patience, fetch.hedge_after, fetch.hedges, fetch.host_pages)


def sandbox_limits(settings: Settings) -> SandboxLimits:
    """The settings' limits for reading one page."""
    wanted = settings.extract
    return SandboxLimits(
        wanted.workers, wanted.seconds, wanted.memory_bytes, wanted.pdf_pages, wanted.extractor
    )


@asynccontextmanager
async def open_extractor(settings: Settings, fetcher: HttpFetcher) -> AsyncGenerator[Extractor, None]:
    """What reads pages as the settings say; its processes start when the first page is read.

    Raises `InputError` where pages are to be rendered, and Playwright or Chromium is not installed.
    """
    mode = settings.fetch.render
    async with AsyncExitStack() as opened:
        sandbox = await opened.enter_async_context(Sandbox(sandbox_limits(settings)))
        if mode == "never":
            yield sandbox
            return
        from citewell.retriever.fetch.render import Renderer, RenderLimits

        public = fetcher
        if settings.fetch.allow_networks:
            fetch = settings.fetch.model_copy(update={"allow_networks": ()})
            others = settings.model_copy(update={"fetch": fetch})
            public = await opened.enter_async_context(open_fetcher(others))
        parts = SubresourceFetcher(public.get_part, fetcher.get_part, settings.fetch.allow_networks)
        renderer = Renderer(parts.get, settings.fetch.chromium, RenderLimits(settings.fetch.render_seconds))
        yield RenderingExtractor(sandbox, (await opened.enter_async_context(renderer)).render, mode)


def _render_notices(settings: Settings) -> tuple[str, ...]:
    if settings.fetch.render == "never" or not runs_as_root():
        return ()
    return ("Chromium renders pages without its own sandbox, since Citewell runs as root.",)


def build_ranker(settings: Settings, *, on_step: OnStep = _silent) -> Ranker:
    """The ranker of the settings, with its encoder loaded."""
    encoder = RememberedQuestions(configured_encoder(settings, on_step=on_step))
    return Ranker(encoder, prefilter=settings.retriever.prefilter)


class ChosenScorer(NamedTuple):
    """A scorer, and what the person who asks should know about the choice."""

    scorer: Scorer
    notices: tuple[str, ...] = ()


def choose_scorer(settings: Settings) -> ChosenScorer:
    """The scorer of the settings; citation support, with a notice, where the weights of its base are missing.

    Raises `ModelError` for a name that no scorer has and for a folder that is damaged.
    """
    wanted = settings.scorer
    if wanted.name == SUPPORT:
        return ChosenScorer(SupportScorer())
    from citewell.scorer.load import load_scorer

    try:
        model = load_scorer(wanted.name, settings.cache_dir, settings.threads)
    except WeightsMissingError as error:
        notice = f"{error} The best answer is chosen by its citations instead."
        return ChosenScorer(SupportScorer(), (notice,))
    return ChosenScorer(PreferenceJudge(model, wanted.margin))


class ChosenGenerator(NamedTuple):
    """A generator, and what the person who asks should know about the choice."""

    backend: GeneratorBackend
    notices: tuple[str, ...] = ()


@asynccontextmanager
async def choose_generator(
    settings: Settings, ranker: Ranker, *, on_step: OnStep = _silent
) -> AsyncGenerator[ChosenGenerator, None]:
    """The generator of the settings; the extractive one, with a notice, where weights are missing.

    Raises `ModelError` for a name that no model has and for a model that cannot be run.
    """
    async with AsyncExitStack() as opened:

        async def choose(wanted: GeneratorSettings) -> GeneratorBackend:
            return await opened.enter_async_context(
                open_generator(
                    wanted,
                    settings.cache_dir,
                    threads=settings.threads,
                    relevance=ranker.scores,
                    on_step=on_step,
                )
            )

        try:
            chosen = ChosenGenerator(await choose(settings.generator))
        except WeightsMissingError as error:
            extractive = settings.generator.model_copy(update={"name": EXTRACTIVE})
            notice = f"{error} The answer is extractive instead."
            chosen = ChosenGenerator(await choose(extractive), (notice,))
        yield chosen
