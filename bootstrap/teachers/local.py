"""Teachers in this process: a generator that writes one answer, or the best of several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.correction import correct
from citewell.bootstrap.filters import reason_to_drop
from citewell.bootstrap.teacher import TeacherAnswer
from citewell.bootstrap.types import BootstrapTask, TeacherUsage
from citewell.core.redact import published_name
from citewell.core.types import Reference
from citewell.generator.backend import GeneratorBackend

# The end of a finished text: a stop, perhaps in quotes or brackets, or a citation mark.
_FINISHED = re.compile(r"[.!?…。！？।]['\"’”»)\]]*\s*$|\[\d+\]\s*$")


class LocalTeacher:
    """One of Citewell's generators as a teacher.

    Generators do not report why they stopped; an answer without a full stop at its end counts as truncated.
    """

    def __init__(self, backend: GeneratorBackend, prompt_hash: str) -> None:
        """`prompt_hash` identifies the generator's prompt."""
        self.name = published_name(backend.name)
        self.prompt_hash = prompt_hash
        self._backend = backend

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """Return the generator's answer; raises the generator's errors."""
        (text,) = await _candidates(self._backend, task.question, references, 1)
        return _written(text)


class SelfTeacher:
    """Self-bootstrapping: the best of several samples of a generator, by its citations.

    The best passes the filters, then has the highest coverage, then the highest overlap with the references.
    """

    def __init__(self, backend: GeneratorBackend, prompt_hash: str, config: BootstrapConfig) -> None:
        """`config` is the recipe of the run, whose filters rank the samples."""
        self.name = published_name(f"self:{backend.name}")
        self.prompt_hash = prompt_hash
        self._backend = backend
        self._config = config

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """Return the best of the generator's samples; raises the generator's errors."""
        samples = self._config.teacher.samples
        texts = await _candidates(self._backend, task.question, references, samples)
        return _written(max(dict.fromkeys(texts), key=lambda text: self._worth(text, references)))

    def _worth(self, text: str, references: Sequence[Reference]) -> tuple[bool, float, float]:
        scores = correct(text, references, self._config.correction).scores
        reason = reason_to_drop(text, scores, self._config, truncated=_written(text).truncated)
        return reason is None, scores.coverage, scores.overlap


async def _candidates(
    backend: GeneratorBackend, question: str, references: Sequence[Reference], n: int
) -> list[str]:
    texts: dict[int, list[str]] = {0: []}
    async with aclosing(backend.generate(question, references, n)) as tokens:
        async for token in tokens:
            texts.setdefault(token.candidate, []).append(token.text)
    return ["".join(texts[candidate]) for candidate in sorted(texts)]


def _written(text: str) -> TeacherAnswer:
    return TeacherAnswer(
        text, TeacherUsage(requests=1), truncated=bool(text.strip()) and not _FINISHED.search(text)
    )
