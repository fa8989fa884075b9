"""The values of a bootstrap: tasks in; samples, drops and faults out, as lines of JSON.

All are `msgspec` structs, so that a damaged line of a run's shards is refused.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from citewell.core.types import Reference

Reason = Literal[
    "few_references",
    "empty",
    "truncated",
    "markup",
    "short",
    "hallucination",
    "few_citations",
    "citation_accuracy",
    "unsupported",
    "irrelevant",
]
"""The reasons to drop an answer, in the order of the filters (docs/bootstrap.md)."""


class BootstrapTask(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the questions file, after its post-processing.

    `key` is the row's id, or a hash of its question; it is unique in a file.
    `line` counts from 1. `references` are None if they must be retrieved. `license` is that of the question
    and of its own references; it is empty if unknown.
    """

    key: str
    line: int
    question: str
    references: tuple[Reference, ...] | None = None
    answer: str | None = None
    license: str = ""


class TeacherUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Requests, tokens and cost of a teacher's answers, also of attempts that failed after an answer.

    The cost is by the prices of the recipe.
    """

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: TeacherUsage) -> TeacherUsage:
        return TeacherUsage(
            requests=self.requests + other.requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            answer_tokens=self.answer_tokens + other.answer_tokens,
            cost=self.cost + other.cost,
        )


class FilterScores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores on which the filters decide; all shares are from 0 to 1.

    `overlap` is the ROUGE of the answer with all its references together. `marks` is the number of citations
    that the teacher wrote, `right` that of those which correction confirmed; `cited` is the number of cited
    references after correction, `cited_segments` that of segments (of `segments`) with a citation. `words` is
    the length of the answer.
    """

    words: int
    segments: int
    overlap: float
    marks: int
    right: int
    cited: int
    cited_segments: int

    @property
    def accuracy(self) -> float | None:
        """The share of the teacher's marks that correction confirmed; None if it wrote none."""
        return self.right / self.marks if self.marks else None

    @property
    def coverage(self) -> float:
        """The share of the segments that cite a reference after correction."""
        return self.cited_segments / self.segments if self.segments else 0.0


class RawAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a teacher wrote about a question, before the correction of citations and the filters.

    `prompt_hash` identifies the prompt; it is empty if the teacher has none. `truncated` says that the limit
    of tokens cut the answer. `license` is that of the question and of the references that came with it.
    """

    key: str
    question: str
    references: tuple[Reference, ...]
    teacher: str
    prompt_hash: str
    raw_answer: str = ""
    usage: TeacherUsage = TeacherUsage()
    truncated: bool = False
    license: str = ""


class Sample(RawAnswer, frozen=True, kw_only=True, tag_field="outcome", tag="sample"):
    """A question, its references and the corrected answer, whose marks `[n]` are the references' numbers."""

    answer: str
    scores: FilterScores


class Drop(RawAnswer, frozen=True, kw_only=True, tag_field="outcome", tag="drop"):
    """An answer that a filter dropped, with the reason and the scores.

    `scores` are None if there was no answer to measure.
    """

    reason: Reason
    scores: FilterScores | None = None


class Fault(msgspec.Struct, frozen=True, kw_only=True, tag_field="outcome", tag="fault"):
    """A row that failed after `attempts` attempts; it is only retried with `--retry-faults`.

    `usage` is that of answers that came and were lost with the row; older runs have none.
    """

    key: str
    question: str
    error: str
    attempts: int
    usage: TeacherUsage = TeacherUsage()


Outcome = Sample | Drop | Fault
"""The result of a task: one line of a run's shards, whose member `outcome` names the kind."""
