"""Composes a pipeline from settings. All callers that ask questions build their pipeline here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from citewell.core.build_cache import OnStep
from citewell.core.relevance import Relevance
from citewell.core.settings import Settings
from citewell.generator.backend import GeneratorBackend
from citewell.generator.extractive import ExtractiveGenerator
from citewell.pipeline.choices import ChosenGenerator, choose_generator, choose_judge, choose_scorer
from citewell.pipeline.fetching import wait_policy
from citewell.pipeline.parts import Parts, open_parts, silent
from citewell.pipeline.pipeline import Limits, Pipeline, checked_question
from citewell.pipeline.providers import OpenedSearch
from citewell.retriever.fetch.render import runs_as_root
from citewell.retriever.parts import parts as split


@asynccontextmanager
async def open_pipeline(
    settings: Settings, *, on_step: OnStep = silent, question: str = ""
) -> AsyncGenerator[Pipeline, None]:
    """Build the pipeline that the settings describe, and close its connections at the end.

    `on_step(model, step)` is called at each step of a conversion of weights. With a `question`, the web is
    searched for it before a model is loaded, so that a search that fails does so at once, and the pipeline
    knows what was found. Raises `CitewellError` if a part is unknown, missing or damaged. Only the weights of
    the generator and of the scorer may be missing: answers are then extractive, or chosen by their citations,
    and a notice says so.
    """
    async with open_parts(settings, on_step=on_step) as parts:
        search = None
        if question:
            asked = checked_question(question, settings.question_characters)
            search = await parts.search().ahead(asked, settings.search.hits)
        async with pipeline_of(parts, on_step, search) as pipeline:
            yield pipeline


@asynccontextmanager
async def pipeline_of(
    parts: Parts, on_step: OnStep = silent, search: OpenedSearch | None = None
) -> AsyncGenerator[Pipeline, None]:
    """Open the pipeline of open parts and load its models; raises as `open_pipeline` does.

    `search` is that of the parts, if it is open.
    """
    settings = parts.settings
    ranker = parts.ranker
    scorer = choose_scorer(settings)
    relevance = ranker.sentence_scores
    async with choose_generator(settings, relevance, on_step=on_step) as chosen:
        yield Pipeline(
            search=parts.search() if search is None else search,
            fetch=parts.fetcher.fetch,
            extractor=parts.extractor,
            ranker=ranker,
            **_of_generator(settings, chosen, relevance),
            orders=parts.orders,
            scorer=scorer.scorer,
            limits=_limits(settings),
            memory=parts.memory,
            profile=settings.profile,
            notices=scorer.notices + _render_notices(settings),
        )


@asynccontextmanager
async def written_by(pipeline: Pipeline, settings: Settings, name: str) -> AsyncGenerator[Pipeline, None]:
    """Open the generator `name` for a pipeline that shares all other parts; raises as `choose_generator`."""
    generator = settings.generator.model_copy(update={"name": name})
    named = settings.model_copy(update={"generator": generator})
    relevance = pipeline.ranker.sentence_scores
    async with choose_generator(named, relevance) as chosen:
        yield replace(pipeline, **_of_generator(named, chosen, relevance))


def _of_generator(settings: Settings, chosen: ChosenGenerator, relevance: Relevance) -> dict[str, Any]:
    """Return the parts of a pipeline that depend on its generator."""
    return {
        "generator": chosen.backend,
        "quoter": _quoter(settings, chosen.backend, relevance),
        "judge": choose_judge(settings, chosen.backend),
        "generator_notices": chosen.notices,
    }


def _quoter(
    settings: Settings, generator: GeneratorBackend, relevance: Relevance
) -> ExtractiveGenerator | None:
    if isinstance(generator, ExtractiveGenerator):
        return None
    return ExtractiveGenerator(relevance, sentences=settings.generator.quotations, split=split)


def _limits(settings: Settings) -> Limits:
    return Limits(
        hits=settings.search.hits,
        k=settings.retriever.k,
        wait=wait_policy(settings),
        min_relevance=settings.retriever.min_relevance,
        threshold=settings.citations.threshold,
        drop_unsupported=settings.citations.drop_unsupported,
        best_of=settings.generator.best_of,
        question_characters=settings.question_characters,
        min_gain=settings.scorer.min_gain,
    )


def _render_notices(settings: Settings) -> tuple[str, ...]:
    if settings.fetch.render == "never" or not runs_as_root():
        return ()
    return ("Chromium renders pages without its own sandbox, since Citewell runs as root.",)
