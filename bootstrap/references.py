"""The references of a row: its own or retrieved ones, numbered from 1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.correction import overlaps
from citewell.bootstrap.types import BootstrapTask
from citewell.core.rouge import Text
from citewell.core.text import squeeze
from citewell.core.types import Reference
from citewell.generator.citations.marks import read_segments, renumber_marks
from citewell.generator.orders.detector import OrderDetector
from citewell.generator.orders.marking import evidence_of, mark_orders


class FoundReferences(NamedTuple):
    """Retrieved references, best first; `relevant` says whether they answer the question."""

    references: tuple[Reference, ...]
    relevant: bool


Retrieve = Callable[[str], Awaitable[FoundReferences]]
"""Finds the references of a question, without orders; raises `CitewellError` if the search failed."""


def without_orders(task: BootstrapTask, detector: OrderDetector) -> BootstrapTask:
    """Return the task without the orders to language models in its own references.

    Those of which nothing is left are dropped.
    """
    if not task.references:
        return task
    kept = tuple(each for each in evidence_of(mark_orders(task.references, detector)) if each.text)
    return msgspec.structs.replace(task, references=kept)


async def with_references(task: BootstrapTask, retrieve: Retrieve, config: BootstrapConfig) -> BootstrapTask:
    """Return the task with its references numbered from 1, and the marks of its answer renumbered.

    A row with more than `most` references keeps those that its answer overlaps with most, or the first ones.
    A row without references gets retrieved ones, if they are relevant. With `fill`, a row with too few gets
    retrieved ones after its own: mostly useless passages, which a generator must learn to leave uncited
    (WebGLM, appendix D).
    """
    wanted = config.references
    if task.references is None:
        found = await retrieve(task.question)
        chosen = list(found.references[: wanted.most]) if found.relevant else []
    else:
        chosen = _best(task, task.references, config)
        if wanted.fill and len(chosen) < wanted.most:
            seen = {squeeze(reference.text).casefold() for reference in task.references}
            found = await retrieve(task.question)
            others = [r for r in found.references if squeeze(r.text).casefold() not in seen]
            chosen += [replace(r, number=-1) for r in others[: wanted.most - len(chosen)]]
    numbers = {reference.number: number for number, reference in enumerate(chosen, 1)}
    references = tuple(replace(reference, number=number) for number, reference in enumerate(chosen, 1))
    answer = task.answer
    if answer is not None and task.references is not None:
        answer = renumber_marks(answer, numbers)
    return msgspec.structs.replace(task, references=references, answer=answer)


def _best(task: BootstrapTask, references: Sequence[Reference], config: BootstrapConfig) -> list[Reference]:
    most = config.references.most
    if len(references) <= most or task.answer is None:
        return list(references[:most])
    segments = [Text(segment.text) for segment in read_segments(squeeze(task.answer), sentences=True)]
    sources = [Text(reference.text) for reference in references]
    best = overlaps(segments, sources, config.correction).max(axis=0, initial=0.0)
    chosen = sorted(sorted(range(len(references)), key=lambda index: -best[index])[:most])
    return [references[index] for index in chosen]
