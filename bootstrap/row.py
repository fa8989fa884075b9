"""One row of a bootstrap: references, a teacher's answer, corrected citations, filters."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from msgspec.structs import asdict, replace

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.correction import correct
from citewell.bootstrap.filters import reason_to_drop
from citewell.bootstrap.judging import AnswerJudge
from citewell.bootstrap.references import Retrieve, with_references, without_orders
from citewell.bootstrap.support import AnswerSupport
from citewell.bootstrap.teacher import PaidError, Teacher
from citewell.bootstrap.types import (
    BootstrapTask,
    Drop,
    Fault,
    Outcome,
    RawAnswer,
    Sample,
    TeacherUsage,
)
from citewell.core.errors import CitewellError
from citewell.core.reasons import named_error, one_reason
from citewell.core.relevance import Relevance
from citewell.core.threads import in_thread
from citewell.generator.citations.marks import MarkedSegment, write_marks
from citewell.generator.citations.relevance import LEAST_RELEVANCE
from citewell.generator.focus import shortened
from citewell.generator.orders.detector import OrderDetector

_SUPPORTED = 0.5


@dataclass(frozen=True, slots=True)
class RowParts:
    """The parts that all rows of a run share."""

    teacher: Teacher
    retrieve: Retrieve
    config: BootstrapConfig
    support: AnswerSupport | None = None
    """Reads the answers that the filters keep; None keeps them."""
    judge: AnswerJudge | None = None
    """Checks the answers that the reader keeps; None leaves them as they are."""
    orders: OrderDetector | None = None
    """Finds the orders to language models in a row's own references; None takes all text for evidence."""
    relevance: Relevance | None = None
    """Chooses the sentences of the references where the recipe limits their words; None keeps all."""


async def bootstrap_row(task: BootstrapTask, parts: RowParts) -> Outcome:
    """Turn a task into a sample, a drop with its reason, or a fault after the attempts of the recipe.

    It depends on its arguments only, so engines may call it anywhere and in any order. It raises no error
    that a single row can cause; cancelling it cancels its requests. Its usage is that of all attempts.
    """
    attempts, problem, spent = parts.config.run.attempts, "", TeacherUsage()
    for _ in range(attempts):
        try:
            raw = await _answered(task, parts)
            spent += raw.usage
            raw = replace(raw, usage=spent)
            if isinstance(raw, Drop):
                return raw
            return await in_thread(partial(filtered, raw, parts.config, parts.support, parts.judge))
        except CitewellError as error:
            problem = one_reason(str(error))
            if isinstance(error, PaidError):
                spent += error.usage
        except Exception as error:  # noqa: BLE001 - after any error, the other rows continue
            problem = named_error(error)
        await asyncio.sleep(0)
    return Fault(key=task.key, question=task.question, error=problem, attempts=attempts, usage=spent)


async def _answered(task: BootstrapTask, parts: RowParts) -> RawAnswer | Drop:
    """Return the teacher's answer to a task, or a drop if there are too few references to ask it."""
    if parts.orders is not None:
        task = await in_thread(partial(without_orders, task, parts.orders))
    task = await with_references(task, parts.retrieve, parts.config)
    references, most = task.references or (), parts.config.references.words
    if most is not None and parts.relevance is not None:
        found = await in_thread(partial(shortened, task.question, references, parts.relevance, most))
        references = tuple(found)
    teacher = parts.teacher
    unasked = RawAnswer(
        key=task.key,
        question=task.question,
        references=references,
        teacher=teacher.name,
        prompt_hash=teacher.prompt_hash,
        license=task.license,
    )
    if len(unasked.references) < parts.config.references.fewest:
        return Drop(**asdict(unasked), reason="few_references")
    written = await teacher.write(task, unasked.references)
    return replace(unasked, raw_answer=written.text, usage=written.usage, truncated=written.truncated)


def filtered(
    raw: RawAnswer,
    config: BootstrapConfig,
    support: AnswerSupport | None = None,
    judge: AnswerJudge | None = None,
) -> Sample | Drop:
    """Correct the citations of an answer, and keep it unless a filter, the reader or the judge drops it.

    What the judge does not find supported is cut; the scores are those of the whole answer.
    """
    corrected = correct(raw.raw_answer, raw.references, config.correction)
    answer, scores = corrected.answer, corrected.scores
    reason = reason_to_drop(raw.raw_answer, scores, config, truncated=raw.truncated)
    if reason is None and support is not None:
        least = _SUPPORTED if config.filters.supported is None else config.filters.supported
        reason = "unsupported" if support.share(answer, raw.references) < least else None
    if reason is None and judge is not None:
        least_relevance = LEAST_RELEVANCE if config.filters.answers is None else config.filters.answers
        found = judge.judged(raw.question, raw.raw_answer, raw.references)
        if not found.first_supported:
            reason = "unsupported"
        elif (found.relevance or 0.0) < least_relevance:
            reason = "irrelevant"
        supported = [sentence for sentence in found.sentences if sentence.supported]
        answer = write_marks([MarkedSegment(f"{each.text} ", each.citations) for each in supported])
    if reason is not None:
        return Drop(**asdict(raw), reason=reason, scores=scores)
    return Sample(**asdict(raw), answer=answer, scores=scores)
