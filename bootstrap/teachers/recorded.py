"""The recorded teacher: answers that people or models have written already get citations, nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.bootstrap.teacher import TeacherAnswer
from citewell.bootstrap.types import BootstrapTask
from citewell.core.types import Reference


class RecordedTeacher:
    """Gives the row's own answer."""

    name = "recorded"
    prompt_hash = ""

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """The answer of the row; nothing if it has none."""
        return TeacherAnswer(task.answer or "")
