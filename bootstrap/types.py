"""What travels through a bootstrap: tasks in, samples, drops and faults out, as lines of JSON.

All are `msgspec` structs, so that a line of a run's shards is read back as what was written, or refused.
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
]
"""Why an answer is dropped, in the order in which the filters ask (docs/bootstrap.md)."""


class BootstrapTask(msgspec.Struct, frozen=True):
    """A row of the questions file, after its post-processing.

    `key` is the row's id, or a hash of its question where it has none; no two tasks of a file share it.
    `line` counts from 1. `references` are None if they have yet to be retrieved.
    """

    key: str
    line: int
    question: str
    references: tuple[Reference, ...] | None = None
    answer: str | None = None


class TeacherUsage(msgspec.Struct, frozen=True):
    """What a teacher's answers took: requests, tokens, and the cost by the prices of the settings."""

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: TeacherUsage) -> TeacherUsage:
        return TeacherUsage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.cost + other.cost,
        )


class FilterScores(msgspec.Struct, frozen=True):
    """What the filters saw of an answer; all shares are from 0 to 1.

    `overlap` is the ROUGE of the answer with all its references together. `marks` are the citations that the
    teacher wrote, `right` those of them that correction kept; `cited` are the references, `cited_segments`
    the segments (of `segments`) that have a citation after correction. `words` is the answer's length.
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
        """The share of the teacher's marks that correction kept; None if it wrote none."""
        return self.right / self.marks if self.marks else None

    @property
    def coverage(self) -> float:
        """The share of the segments that cite a reference after correction."""
        return self.cited_segments / self.segments if self.segments else 0.0


class Sample(msgspec.Struct, frozen=True, tag_field="outcome", tag="sample"):
    """A question, its references and the corrected answer, whose marks `[n]` are the references' numbers.

    `prompt_hash` tells prompts apart; it is empty where the teacher was asked nothing.
    """

    key: str
    question: str
    answer: str
    references: tuple[Reference, ...]
    teacher: str
    prompt_hash: str
    raw_answer: str
    scores: FilterScores
    usage: TeacherUsage = TeacherUsage()


class Drop(msgspec.Struct, frozen=True, tag_field="outcome", tag="drop"):
    """An answer that a filter stopped, the reason, and what the filters saw of it.

    `scores` are None if there was no answer to measure.
    """

    key: str
    question: str
    reason: Reason
    references: tuple[Reference, ...]
    teacher: str
    prompt_hash: str
    raw_answer: str = ""
    scores: FilterScores | None = None
    usage: TeacherUsage = TeacherUsage()


class Fault(msgspec.Struct, frozen=True, tag_field="outcome", tag="fault"):
    """A row that failed, after this many attempts: set aside, and tried again only with `--retry-faults`."""

    key: str
    question: str
    error: str
    attempts: int


Outcome = Sample | Drop | Fault
"""What becomes of a task: one line of a run's shards, where `outcome` says which of the three it is."""
