"""The references of a row: its own or retrieved ones, at most so many, numbered from 1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.correction import overlaps
from citewell.bootstrap.types import BootstrapTask
from citewell.core.rouge import Text
from citewell.core.text import squeeze
from citewell.core.types import Reference
from citewell.generator.citations.marks import read_segments, renumber_marks


class FoundReferences(NamedTuple):
    """What a retriever found, the best first; `relevant` says whether the best is an answer's evidence."""

    references: tuple[Reference, ...]
    relevant: bool


Retrieve = Callable[[str], Awaitable[FoundReferences]]
"""Finds the references of a question; raises `CitewellError` if the search failed."""


async def with_references(task: BootstrapTask, retrieve: Retrieve, config: BootstrapConfig) -> BootstrapTask:
    """The task with its references, numbered from 1, to which the marks of its answer are fitted.

    A row that brings more than `most` keeps those that its answer overlaps with most, or the first ones. One
    that brings none gets what is retrieved, if that is relevant; with `fill`, one that brings too few gets
    what is retrieved after its own: mostly passages that are of no use, which a generator must learn to leave
    uncited (WebGLM, appendix D).
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
    numbers = {reference.number: place for place, reference in enumerate(chosen, 1)}
    references = tuple(replace(reference, number=place) for place, reference in enumerate(chosen, 1))
    answer = task.answer
    if answer is not None and task.references is not None:
        answer = renumber_marks(answer, numbers)
    return BootstrapTask(task.key, task.line, task.question, references, answer)


def _best(task: BootstrapTask, references: Sequence[Reference], config: BootstrapConfig) -> list[Reference]:
    most = config.references.most
    if len(references) <= most or task.answer is None:
        return list(references[:most])
    segments = [Text(segment.text) for segment in read_segments(squeeze(task.answer), sentences=True)]
    sources = [Text(reference.text) for reference in references]
    best = overlaps(segments, sources, config.correction).max(axis=0, initial=0.0)
    kept = sorted(sorted(range(len(references)), key=lambda place: -best[place])[:most])
    return [references[place] for place in kept]
