"""Asking in a conversation: the question is completed by the turns before, and answered as any question."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.errors import CitewellError
from citewell.core.events import Done, Event, Notice, Rewritten
from citewell.core.text import words
from citewell.core.types import Turn
from citewell.pipeline.conversation.rule import complete
from citewell.pipeline.conversation.writer import write_question

if TYPE_CHECKING:
    from citewell.generator.completer import Completer
    from citewell.pipeline.pipeline import Pipeline

Ask = Callable[[str], AsyncGenerator[Event, None]]
"""Answers a question of its own, such as `Pipeline.ask`."""


async def ask_in_turn(
    pipeline: Pipeline, question: str, turns: Sequence[Turn], ask: Ask | None = None
) -> AsyncGenerator[Event, None]:
    """Answer a question with the turns before it, as a stream of events whose last is `Done`.

    The language model of the pipeline rewrites it as a question of its own, or a rule if there is none; the
    rewritten question is answered by `ask`, `pipeline.ask` by default. The answer has both.
    Raises as `ask` does, and `InputError` for a question that is empty or too long.
    """
    question = pipeline.checked(question)
    started = time.perf_counter()
    rewritten, trouble = await _rewritten(pipeline.generator.completer, question, turns)
    seconds = round(time.perf_counter() - started, 4)
    if trouble:
        yield Notice(trouble)
    if rewritten:
        yield Rewritten(rewritten)
    async with aclosing((ask or pipeline.ask)(rewritten or question)) as events:
        async for event in events:
            if isinstance(event, Done) and turns:
                timings = {"rewrite": seconds} | event.answer.timings
                timings["total"] = round(timings.get("total", 0.0) + seconds, 4)
                notices = ((trouble,) if trouble else ()) + event.answer.notices
                yield Done(
                    replace(
                        event.answer,
                        question=question,
                        rewritten=rewritten,
                        timings=timings,
                        notices=notices,
                    )
                )
            else:
                yield event


async def _rewritten(
    completer: Completer | None, question: str, turns: Sequence[Turn]
) -> tuple[str | None, str]:
    """Return the question in a form of its own, None if it is one already, and what went wrong."""
    if not turns:
        return None, ""
    written = trouble = ""
    if completer is not None:
        try:
            written = await write_question(completer, question, turns)
        except CitewellError as error:
            trouble = f"The question was completed by a rule: {error}"
    if not written or words(written) == words(question):
        written = complete(question, turns)  # a small model repeats some questions that it should complete
    return (None if words(written) == words(question) else written), trouble
