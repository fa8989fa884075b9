"""The parts of a bootstrap's rows, composed from settings: here, or in the workers of another machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass
from typing import TypeVar

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.judging import open_judge
from citewell.bootstrap.references import FoundReferences
from citewell.bootstrap.row import RowParts
from citewell.bootstrap.support import open_support
from citewell.bootstrap.teachers.opening import open_teacher
from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError
from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.core.threads import in_thread
from citewell.generator.orders.marking import evidence_of
from citewell.pipeline.build import pipeline_of
from citewell.pipeline.choices import without_writer
from citewell.pipeline.parts import Parts, open_parts, silent
from citewell.retriever.encoder.encoder import Vectors

_Model = TypeVar("_Model")


@dataclass(frozen=True)
class PartsOpener:
    """An opener of the settings' teacher and retriever, which can be sent to other processes.

    Without `retrieval`, no row needs references, and of the retriever only the encoder is loaded.
    """

    teacher: str
    config: BootstrapConfig
    settings: Settings
    retrieval: bool

    def __call__(self, on_step: OnStep = silent) -> AbstractAsyncContextManager[RowParts]:
        """Return the parts, to be entered with `async with`.

        Raises `CitewellError` if one cannot be loaded.
        """
        return _open(self, on_step)


@asynccontextmanager
async def _open(wanted: PartsOpener, on_step: OnStep) -> AsyncGenerator[RowParts, None]:
    settings = _retrieving(wanted) if wanted.retrieval else wanted.settings
    async with AsyncExitStack() as opened:
        parts = await opened.enter_async_context(open_parts(settings, on_step=on_step))
        relevance = _Relevance(parts)
        teacher = await opened.enter_async_context(
            open_teacher(
                wanted.teacher,
                wanted.config,
                wanted.settings.generator,
                settings.cache_dir,
                threads=settings.threads,
                relevance=relevance,
                on_step=on_step,
            )
        )
        pipeline = None
        if wanted.retrieval:
            pipeline = await opened.enter_async_context(pipeline_of(parts, on_step))

        async def retrieve(question: str) -> FoundReferences:
            if pipeline is None:
                raise InputError("The row has no references, and nothing is retrieved.")
            answer = await final_answer(pipeline.retrieve(question))
            found = tuple(each for each in evidence_of(answer.references) if each.text)
            return FoundReferences(found, answer.outcome == "retrieved")

        reader, judging = wanted.config.filters.reader, wanted.config.correction.judge
        support = judge = None
        if reader:
            support = await _entered(opened, lambda: open_support(reader, wanted.settings, on_step))
        if judging:
            judge = await _entered(opened, lambda: open_judge(judging, wanted.settings, on_step))
        orders = await in_thread(lambda: parts.orders)
        yield RowParts(teacher, retrieve, wanted.config, support, judge, orders, relevance)


async def _entered(opened: AsyncExitStack, enter: Callable[[], AbstractContextManager[_Model]]) -> _Model:
    """Open a model in a thread, for it may run an event loop of its own."""
    stack = ExitStack()
    opened.push_async_callback(in_thread, stack.close)
    return await in_thread(lambda: stack.enter_context(enter()))


class _Relevance:
    """Score the relevance of texts to a question with the ranker, which is loaded at the first use."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def __call__(self, question: str, texts: Sequence[str]) -> Vectors:
        return self._parts.ranker.scores(question, texts)


def _retrieving(wanted: PartsOpener) -> Settings:
    """Return the settings of a pipeline that only finds references, as many as a row may have."""
    settings = without_writer(wanted.settings)
    retriever = settings.retriever.model_copy(update={"k": wanted.config.references.most})
    return settings.model_copy(update={"retriever": retriever})
