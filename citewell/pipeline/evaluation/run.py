"""The run of an evaluation: systems answer questions, and what is there already is not written again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from citewell.core.progress import Counter, Log
from citewell.core.questions import AnsweredQuestion
from citewell.core.settings import Settings
from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer
from citewell.pipeline.evaluation.answering import never, together
from citewell.pipeline.evaluation.coverage import PassageSearch
from citewell.pipeline.evaluation.identity import identity_of
from citewell.pipeline.evaluation.reader import ShortReader
from citewell.pipeline.evaluation.systems import AnswerSystem, open_system
from citewell.pipeline.pipeline import Hides


def _silent(done: int, total: int) -> None:
    pass


async def answers_of(
    system: AnswerSystem,
    settings: Settings,
    asked: Sequence[AnsweredQuestion],
    answers: AnswerFile,
    passages: Callable[[], PassageSearch],
    log: Log,
    *,
    hides: Hides | None = None,
) -> dict[str, GeneratedAnswer]:
    """Return the answers of a system, by the keys of the questions; missing ones are written.

    Raises the errors of `open_system` and `AnswerFile.complete`.
    """
    identity = system.identity(settings, hides=hides)
    if not answers.missing(identity, asked):
        return await answers.complete(system.label, identity, asked, never, _silent)
    opening = open_system(
        system, settings, passages, lambda model, step: log(f"{model}: {step}"), hides=hides
    )
    async with opening as write:
        progress = Counter(f"{system.label}: answers", log)
        at_once = together(system.of(settings))
        return await answers.complete(system.label, identity, asked, write, progress, together=at_once)


async def short_answers(
    system: AnswerSystem,
    settings: Settings,
    asked: Sequence[AnsweredQuestion],
    written: Mapping[str, GeneratedAnswer],
    reader: ShortReader,
    answers: AnswerFile,
    log: Log,
) -> dict[str, GeneratedAnswer]:
    """Return the short answers that a reader finds in a system's answers, by the keys of the questions."""
    texts = hashlib.sha256("\n\n".join(written[row.key].text for row in asked).encode()).hexdigest()
    identity = identity_of(settings, reader=reader.name, texts=texts)

    async def read(row: AnsweredQuestion) -> GeneratedAnswer:
        return GeneratedAnswer(await reader.read(row.question, written[row.key].text))

    label = f"{system.label}, read by {reader.name}"
    return await answers.complete(label, identity, asked, read, Counter(label, log))
