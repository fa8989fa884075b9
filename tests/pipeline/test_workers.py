"""Processes that read pages start for pages from the web, and for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import psutil

from citewell.core.events import Done
from citewell.core.settings import Settings
from citewell.pipeline.build import open_pipeline


async def test_a_question_to_a_collection_starts_no_process(settings: Callable[..., Settings]) -> None:
    def children() -> set[int]:
        return {child.pid for child in psutil.Process().children()}

    before = children()
    async with open_pipeline(settings()) as pipeline:
        async with aclosing(pipeline.ask("How do bats find their way in the dark?")) as events:
            answers = [event.answer async for event in events if isinstance(event, Done)]
        assert children() == before
    assert answers[0].outcome == "answered"
