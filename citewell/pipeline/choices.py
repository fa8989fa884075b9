"""The generator and the scorer of the settings, or their substitutes if weights are missing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from citewell.core.build_cache import OnStep
from citewell.core.errors import WeightsMissingError
from citewell.core.settings import GeneratorSettings, Settings
from citewell.generator.backend import GeneratorBackend
from citewell.generator.load import EXTRACTIVE, open_generator
from citewell.pipeline.parts import silent
from citewell.retriever.rank import Ranker
from citewell.scorer.scorer import SUPPORT, PreferenceJudge, Scorer, SupportScorer


class ChosenScorer(NamedTuple):
    """A scorer, and notices about its choice for the user."""

    scorer: Scorer
    notices: tuple[str, ...] = ()


def choose_scorer(settings: Settings) -> ChosenScorer:
    """Return the scorer of the settings.

    Citation support, with a notice, where the weights of its base are missing. Raises `ModelError` for an
    unknown scorer and for a damaged folder.
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
    return ChosenScorer(PreferenceJudge(model))


class ChosenGenerator(NamedTuple):
    """A generator, and notices about its choice for the user."""

    backend: GeneratorBackend
    notices: tuple[str, ...] = ()


@asynccontextmanager
async def choose_generator(
    settings: Settings, ranker: Ranker, *, on_step: OnStep = silent
) -> AsyncGenerator[ChosenGenerator, None]:
    """Open the generator of the settings.

    If weights are missing, it is the extractive one, with a notice. Raises `ModelError` for an unknown model
    and for one that cannot be run.
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
