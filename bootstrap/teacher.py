"""The protocol of teachers, which write the answers that a bootstrap corrects and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from citewell.bootstrap.types import BootstrapTask, TeacherUsage
from citewell.core.errors import CitewellError
from citewell.core.types import Reference


@dataclass(frozen=True, slots=True)
class TeacherAnswer:
    """A teacher's answer, with marks such as `[1][3]`; `truncated` if the limit of tokens cut it."""

    text: str
    usage: TeacherUsage = field(default_factory=TeacherUsage)
    truncated: bool = False


class PaidError(CitewellError):
    """Some of the answers to a task failed, and the others, which are lost with them, were paid for."""

    def __init__(self, error: CitewellError, usage: TeacherUsage) -> None:
        """`error` is that of the first answer that failed, `usage` that of the others."""
        super().__init__(error.message, error.hint)
        self.usage = usage


class SamplingTeacher(Protocol):
    """A language model that writes several answers to a task, which may differ."""

    name: str
    prompt_hash: str

    async def sample(
        self, task: BootstrapTask, references: Sequence[Reference], n: int
    ) -> list[TeacherAnswer]:
        """Write at most `n` answers.

        Raises `CitewellError` if it cannot, and `PaidError` if it could only write some.
        """
        ...


class Teacher(Protocol):
    """A writer of the answer to a task's question from numbered references.

    `prompt_hash` identifies the prompt; it is empty without one.
    """

    name: str
    prompt_hash: str

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """Write an answer; raises `CitewellError` if it cannot.

        `references` are numbered from 1, and the marks of `task.answer` are their numbers.
        """
        ...
