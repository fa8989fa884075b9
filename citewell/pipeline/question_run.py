"""What one question has gathered so far, with the warnings of the parts that worked for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from citewell.core.events import Notice
from citewell.core.types import Candidate, Failure, Reference
from citewell.pipeline.warnings import QuestionWarnings


@dataclass
class QuestionRun:
    """What a question has gathered so far."""

    question: str
    failures: list[Failure] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    references: tuple[Reference, ...] = ()
    relevant: bool = False
    candidates: tuple[Candidate, ...] = ()
    best: int = 0
    warnings: QuestionWarnings = field(default_factory=QuestionWarnings)
    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def take_warnings(self) -> list[Notice]:
        """Take over the warnings that have come, as notices."""
        texts = self.warnings.take()
        self.notices.extend(texts)
        return [Notice(text) for text in texts]

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds that the block takes to the stage's."""
        before = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - before
            self.timings[stage] = round(self.timings.get(stage, 0.0) + spent, 4)
