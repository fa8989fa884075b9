"""The generator and the scorer of the settings, or their substitutes if weights are missing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from citewell.core.build_cache import OnStep
from citewell.core.errors import ModelError, WeightsMissingError
from citewell.core.models.catalog import catalog
from citewell.core.relevance import Relevance
from citewell.core.settings import GeneratorSettings, Settings
from citewell.core.threads import in_thread
from citewell.generator.auto import AUTO, EXTRACTIVE, resolve_auto
from citewell.generator.backend import GeneratorBackend
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.load import open_generator
from citewell.pipeline.parts import silent
from citewell.retriever.parts import parts
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
    settings: Settings, relevance: Relevance, *, on_step: OnStep = silent
) -> AsyncGenerator[ChosenGenerator, None]:
    """Open the generator of the settings; `relevance` scores the sentences of references.

    If weights are missing, or a model that `auto` chose cannot be run, it is the extractive one, with a
    notice. Raises `ModelError` for an unknown model and for one that cannot be run, and as `resolve_auto`
    does.
    """
    wanted, advice = await in_thread(partial(resolve_auto, settings.generator))
    async with AsyncExitStack() as opened:

        async def choose(wanted: GeneratorSettings) -> GeneratorBackend:
            return await opened.enter_async_context(
                open_generator(
                    wanted,
                    settings.cache_dir,
                    threads=settings.threads,
                    relevance=relevance,
                    split=parts,
                    on_step=on_step,
                )
            )

        try:
            chosen = ChosenGenerator(await choose(wanted), _once(advice, settings.cache_dir))
        except ModelError as error:
            if settings.generator.name != AUTO and not isinstance(error, WeightsMissingError):
                raise
            extractive = without_writer(settings).generator
            notice = f"{error} The answer is extractive instead."
            chosen = ChosenGenerator(await choose(extractive), (notice,))
        yield chosen


def choose_judge(settings: Settings, generator: GeneratorBackend) -> JudgedCitations | None:
    """Return the judge of citations that the settings name; None leaves the check at shared words.

    A generator that quotes needs none.
    """
    if generator.yes_model is None or not judges_itself(settings, generator.name):
        return None
    return JudgedCitations(generator.yes_model)


def judges_itself(settings: Settings, name: str) -> bool:
    """Return whether the settings let the language model `name` judge the citations of what it writes."""
    wanted = settings.citations.judge
    known = catalog().get(name)
    return wanted == "writer" or (wanted == "auto" and known is not None and known.judges)


def without_writer(settings: Settings) -> Settings:
    """Return settings that load no writer, for uses that only find references."""
    generator = settings.generator.model_copy(update={"name": EXTRACTIVE})
    return settings.model_copy(update={"generator": generator})


def _once(advice: str, cache_dir: Path) -> tuple[str, ...]:
    """Return the advice if no earlier process that used this cache folder has given it."""
    given = cache_dir / "advice-on-writers"
    if not advice or given.exists():
        return ()
    with suppress(OSError):
        cache_dir.mkdir(parents=True, exist_ok=True)
        given.touch()
    return (advice,)
