"""The recorded teacher: uses answers that people or models have already written."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.bootstrap.teacher import TeacherAnswer
from citewell.bootstrap.types import BootstrapTask
from citewell.core.types import Reference


class RecordedTeacher:
    """The teacher that returns the row's own answer."""

    name = "recorded"
    prompt_hash = ""

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """Return the answer of the row; empty if it has none."""
        return TeacherAnswer(task.answer or "")
