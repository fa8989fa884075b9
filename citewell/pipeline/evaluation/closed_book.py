"""Answers without references, from what a language model has learned alone."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from citewell.core.build_cache import OnStep
from citewell.core.settings import Settings
from citewell.generator.citations.ending import finished
from citewell.generator.citations.marks import MarkedSentence, read_marks
from citewell.generator.evaluation.answers import Asked, GeneratedAnswer, Write
from citewell.generator.load import open_completer, sampling_of
from citewell.pipeline.evaluation.prompts import QuestionPrompt


@asynccontextmanager
async def open_closed_book(
    settings: Settings, prompt: QuestionPrompt, on_step: OnStep
) -> AsyncGenerator[Write[Asked], None]:
    """Open the language model of the settings, to answer greedily what `prompt` asks.

    Nothing is searched and no reference is sent. Raises as `open_completer` does.
    """
    wanted = settings.generator
    async with open_completer(
        wanted, settings.cache_dir, threads=settings.threads, on_step=on_step
    ) as completer:
        sampling = sampling_of(wanted)

        async def write(row: Asked) -> GeneratedAnswer:
            started = time.perf_counter()
            messages = prompt.messages(row.question)
            done = await completer.complete(messages, most=wanted.answer_tokens, sampling=sampling)
            # A model that was trained to cite writes marks here too.
            marked = read_marks(finished(done.text), markdown=True)
            sentences = tuple(MarkedSentence(s.text, ()) for s in marked)
            return GeneratedAnswer(done.text, sentences, round(time.perf_counter() - started, 4))

        yield write
