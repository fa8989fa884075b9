"""Runs the rows: each answers the same questions, and what is there already is not written again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.ablations.rows import AblationRow
from benchmarks.answer_systems import SYSTEMS
from citewell.core.questions import AnsweredQuestion
from citewell.core.settings import Settings, load_settings
from citewell.generator.auto import EXTRACTIVE
from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer, Write
from citewell.generator.focus import focused
from citewell.generator.load import load_local
from citewell.generator.prompt import PromptForm
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.evaluation.answering import generated
from citewell.pipeline.evaluation.coverage import PassageSearch
from citewell.pipeline.evaluation.systems import AnswerSystem, Arm, open_system
from citewell.retriever.parts import parts

Passages = Callable[[], PassageSearch]
"""Returns the passages of the collection, for rows that are given those with an answer."""

_ARMS = {"closed-book": Arm.CLOSED_BOOK, "oracle": Arm.ORACLE, "browse": Arm.BROWSE}
_POLICY = "scripted"  # browses by rules


async def run_row(
    row: AblationRow,
    given: Mapping[str, Any],
    asked: Sequence[AnsweredQuestion],
    answers: AnswerFile,
    passages: Passages,
    progress: Callable[[int, int], object],
) -> dict[str, GeneratedAnswer]:
    """Return the answers of a row by question, and write the missing ones to the file of answers.

    `given` are the settings that all rows share, by dotted name. Raises as `open_pipeline` does.
    """
    async with _opened(row, settings_of(row, given), passages) as write:
        identity = identity_of_row(row, given)
        return await answers.complete(row.name, identity, asked, write, progress)


def identity_of_row(row: AblationRow, given: Mapping[str, Any]) -> str:
    """Return a digest of what the answers of a row depend on."""
    form = PromptForm(**row.form).hash if row.form else ""
    return f"{_system(row).identity(settings_of(row, given))}-{row.references}-{form}"


def settings_of(row: AblationRow, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a row."""
    generator = {"generator.name": row.generator} if row.generator else {}
    return load_settings({**given, **generator, **row.settings})


def _system(row: AblationRow) -> AnswerSystem:
    arm = _ARMS.get(row.references, Arm.ON)
    return AnswerSystem(label=row.name, arm=arm, name=_POLICY if arm is Arm.BROWSE else "default")


@asynccontextmanager
async def _opened(
    row: AblationRow, settings: Settings, passages: Passages
) -> AsyncGenerator[Write[AnsweredQuestion], None]:
    if row.references in ("bm25", "encoder"):
        async with SYSTEMS[row.references].open(settings) as find, open_pipeline(settings) as pipeline:

            async def write(question: AnsweredQuestion) -> GeneratedAnswer:
                found = await find(question.question, settings.retriever.k)
                return await generated(pipeline.write(question.question, found.references))

            yield write
    elif row.form:
        quoting = settings.generator.model_copy(update={"name": EXTRACTIVE})
        async with open_pipeline(settings.model_copy(update={"generator": quoting})) as opened:
            writer = load_local(
                settings.generator,
                settings.cache_dir,
                threads=settings.threads,
                focus=partial(
                    focused,
                    relevance=opened.ranker.sentence_scores,
                    most_words=settings.generator.reference_words,
                    split=parts,
                ),
                form=row.form,
            )
            pipeline = replace(opened, generator=writer)

            async def ask(question: AnsweredQuestion) -> GeneratedAnswer:
                return await generated(pipeline.ask(question.question))

            yield ask
    else:
        async with open_system(_system(row), settings, passages, lambda model, step: None) as answer:
            yield answer
