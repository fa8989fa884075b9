"""The teacher in this process: one of Citewell's generators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing

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
        (answer,) = await self.sample(task, references, 1)
        return answer

    async def sample(
        self, task: BootstrapTask, references: Sequence[Reference], n: int
    ) -> list[TeacherAnswer]:
        """Return `n` candidates of the generator; raises the generator's errors.

        They count as one request, since the generator reads the prompt once.
        """
        texts: dict[int, list[str]] = {0: []}
        async with aclosing(self._backend.generate(task.question, references, n)) as tokens:
            async for token in tokens:
                texts.setdefault(token.candidate, []).append(token.text)
        candidates = ["".join(texts[candidate]) for candidate in sorted(texts)]
        return [_written(text, requests=int(not index)) for index, text in enumerate(candidates)]


def _written(text: str, requests: int) -> TeacherAnswer:
    truncated = bool(text.strip()) and not _FINISHED.search(text)
    return TeacherAnswer(text, TeacherUsage(requests=requests), truncated=truncated)
