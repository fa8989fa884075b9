"""The way of the tools to answers and pages: a protocol, and its form for programs of this computer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from citewell.core.events import Event, final_answer
from citewell.core.settings import Settings
from citewell.pipeline.reading import PagePart
from citewell.server.work.errors import AnswerLateError
from citewell.server.work.options import QuestionOptions, listed
from citewell.server.work.pipelines import Pipelines, open_pipelines
from citewell.server.work.reconnecting import Reconnecting

OnEvent = Callable[[Event], Awaitable[None]]


class Asking(Protocol):
    """Answers the questions of tools. Both methods raise `CitewellError`."""

    async def answer(self, options: QuestionOptions, on_event: OnEvent) -> dict[str, Any]:
        """Return an answer as `Answer.to_json` writes it; `on_event` sees each event before."""
        ...

    async def read(self, address: str, collection: str | None, start: int) -> PagePart:
        """Return a page of the web or of a collection, from the passage `start` on."""
        ...


class OwnPipelines:
    """A pipeline of this process, for programs of the person who started it. Files keep their addresses."""

    def __init__(self, settings: Settings, pipelines: Reconnecting[Pipelines]) -> None:
        """Answer with `pipelines` once they are open."""
        self._wanted = settings.server
        self._pipelines = pipelines
        self._opening = asyncio.create_task(pipelines.start())
        self._turns = asyncio.Semaphore(self._wanted.concurrency)

    async def answer(self, options: QuestionOptions, on_event: OnEvent) -> dict[str, Any]:
        """Return an answer; raises as a pipeline does, and `AnswerLateError`."""
        pipelines = await self._opened()
        pipelines.check(options)
        async with self._turns:
            try:
                async with asyncio.timeout(self._wanted.answer_seconds):
                    answer = await final_answer(_seen(await pipelines.begin(options), on_event))
            except TimeoutError:
                raise AnswerLateError(self._wanted.answer_seconds) from None
        return answer.to_json()

    async def read(self, address: str, collection: str | None, start: int) -> PagePart:
        """Return a part of a page; raises as `read_page` and `read_part` do."""
        options = QuestionOptions("", collection=listed(collection))
        return await (await self._opened()).read(options, address, start)

    async def _opened(self) -> Pipelines:
        await asyncio.shield(self._opening)
        return self._pipelines.get()


@asynccontextmanager
async def own_pipelines(settings: Settings) -> AsyncGenerator[OwnPipelines, None]:
    """Begin to load the models of the settings, which tools wait for, and free them at the end."""
    pipelines = Reconnecting("pipeline", lambda: open_pipelines(settings))
    try:
        yield OwnPipelines(settings, pipelines)
    finally:
        await pipelines.close()


async def _seen(events: AsyncGenerator[Event, None], on_event: OnEvent) -> AsyncGenerator[Event, None]:
    try:
        async for event in events:
            await on_event(event)
            yield event
    finally:
        await events.aclose()
