"""Answers of a pipeline as evaluations keep them."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from citewell.core.errors import ModelError
from citewell.core.events import Event, Scored, final_answer
from citewell.core.settings import Settings
from citewell.generator.auto import EXTRACTIVE, OPENAI
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.answers import Asked, GeneratedAnswer
from citewell.generator.resolve import resolve
from citewell.pipeline.pipeline import Pipeline


async def generated(events: AsyncGenerator[Event, None]) -> GeneratedAnswer:
    """Read a question's events to their end, and return the answer with its references."""
    raw, markdown = "", False

    def see(event: Event) -> None:
        nonlocal raw, markdown
        if isinstance(event, Scored):
            best = event.candidates[event.best]
            raw, markdown = best.raw, any(sentence.before is not None for sentence in best.sentences)

    answer = await final_answer(events, see)
    sentences = tuple(MarkedSentence(s.text, s.citations, s.before) for s in answer.sentences)
    return GeneratedAnswer(
        raw, sentences, answer.timings["total"], references=answer.references, markdown=markdown
    )


def check_writer(pipeline: Pipeline, settings: Settings) -> None:
    """Raise `ModelError` if the pipeline quotes because the weights of its generator are missing."""
    if pipeline.generator.name == EXTRACTIVE != settings.generator.name:
        raise ModelError(
            f"Cannot evaluate {settings.generator.name}: its weights are not installed.",
            "`citewell doctor` says how to install them.",
        )


def together(settings: Settings) -> int:
    """Return how many answers to write at a time: as many as the generator of the settings writes together.

    Raises `ModelError` for an unknown generator.
    """
    wanted = settings.generator
    shares = wanted.name.startswith(OPENAI) or (wanted.name != EXTRACTIVE and resolve(wanted.name).is_gguf)
    return wanted.concurrency if shares else 1


async def never(row: Asked) -> GeneratedAnswer:
    """Stand for a generator whose answers are all there already."""
    raise AssertionError("All answers are there.")
