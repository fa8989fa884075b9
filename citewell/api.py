"""Functions for scripts and notebooks, which `citewell` exports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from citewell.core.events import Event
    from citewell.core.types import Answer
    from citewell.retriever.encoder.encoder import DualEncoder
    from citewell.retriever.rank import Ranker
    from citewell.scorer.load import PreferenceScorer

T = TypeVar("T")


def ask(question: str, *, on_event: Callable[[Event], object] | None = None, **settings: Any) -> Answer:
    """Answer a question, with every sentence cited and every citation checked.

    `settings` are those of docs/settings.md, with two underscores for a dot: `fetch__deadline=5`. Some have
    short names, as on the command line: `collection`, `search`, `language`, `k`, `encoder`, `generator`,
    `best_of` and `scorer`. What is not given comes from the environment and `citewell.toml`. `on_event` sees
    each event of the pipeline as it happens.

    Each call loads the models; a program with many questions keeps a pipeline open (`open_pipeline`). Works
    in a notebook, too, where an event loop is running already. Raises `CitewellError`.

    >>> import citewell
    >>> answer = citewell.ask("How does Citewell check a citation?", k=3)
    >>> answer.sentences[0].citations
    (1,)
    >>> len(answer.references)
    3
    """
    from citewell.core.events import final_answer
    from citewell.pipeline.answering import open_answering
    from citewell.pipeline.named import named_settings

    async def answer() -> Answer:
        async with open_answering(named_settings(settings), question=question) as opened:
            return await final_answer(opened.ask(question), on_event)

    return _run(answer())


def retrieve(question: str, *, on_event: Callable[[Event], object] | None = None, **settings: Any) -> Answer:
    """Find the references of a question, without writing an answer. Takes what `ask` takes.

    >>> import citewell
    >>> found = citewell.retrieve("How does Citewell check a citation?")
    >>> found.references[0].title
    'How citations are checked'
    """
    from citewell.core.events import final_answer
    from citewell.pipeline.build import open_pipeline
    from citewell.pipeline.choices import without_writer
    from citewell.pipeline.named import named_settings

    async def answer() -> Answer:
        async with open_pipeline(without_writer(named_settings(settings)), question=question) as pipeline:
            return await final_answer(pipeline.retrieve(question), on_event)

    return _run(answer())


def load_encoder(**settings: Any) -> DualEncoder:
    """The dual encoder of the settings, for questions and for passages. Takes the settings that `ask` takes.

    Raises `CitewellError` where the model is missing or damaged.

    >>> import citewell
    >>> encoder = citewell.load_encoder()
    >>> encoder.encode_passages(["A Fresnel lens gathers light.", "Bats call."]).shape
    (2, 384)
    """
    from citewell.pipeline.named import named_settings
    from citewell.pipeline.providers import configured_encoder

    return configured_encoder(named_settings(settings))


def load_ranker(**settings: Any) -> Ranker:
    """What ranks passages for a question, by BM25 and the dual encoder. Takes the settings that `ask` takes.

    >>> import citewell
    >>> ranker = citewell.load_ranker()
    >>> texts = ["Bees make honey from nectar.", "The tides are caused by the Moon."]
    >>> int(ranker.scores("What causes the tides?", texts).argmax())
    1
    >>> page = citewell.extract(b"<p>Most coasts have two high tides a day.</p>", "tides.html")
    >>> ranker.rank("How many high tides are there?", page.passages, k=5)[0].number
    1
    """
    from citewell.pipeline.named import named_settings
    from citewell.pipeline.parts import build_ranker

    return build_ranker(named_settings(settings))


def load_scorer(name: str = "citewell-scorer", **settings: Any) -> PreferenceScorer:
    """A trained preference model: a shipped one, or the folder of one. Needs the extra `train`.

    >>> import citewell
    >>> scorer = citewell.load_scorer()
    >>> scores = scorer.rate("Why is the sky blue?", ["Air scatters blue light more than red.", "No idea."])
    >>> scores[0] > scores[1]
    True
    """
    from citewell.pipeline.named import named_settings
    from citewell.scorer.load import load_scorer as load

    wanted = named_settings(settings)
    return load(name, wanted.cache_dir, wanted.threads)


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, in a thread of its own where an event loop is running in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
