"""The state of one question: its results so far, and the warnings of the parts that worked on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from citewell.core.events import Notice
from citewell.core.types import Candidate, Failure, Reference, Sentence
from citewell.pipeline.warnings import QuestionWarnings


@dataclass
class QuestionRun:
    """The results of a question so far."""

    question: str
    searched: str = ""
    """The question with corrected spelling."""
    search: str = ""
    """The name of the search that was used."""
    failures: list[Failure] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    references: tuple[Reference, ...] = ()
    evidence: tuple[Reference, ...] = ()
    """The references without orders to their reader: what models read and sentences are checked against."""
    relevant: bool = False
    quotations: tuple[Sentence, ...] = ()
    quotable: tuple[Sentence, ...] = ()
    """The quotations that are the answer in place of what is written."""
    irrelevant: bool = False
    """Whether what is written and supported does not answer the question, where a model judges."""
    without_first: float | None = None
    """The relevance of the supported sentences, where the first one is not supported and a model judges."""
    candidates: tuple[Candidate, ...] = ()
    best: int = 0
    warnings: QuestionWarnings = field(default_factory=QuestionWarnings)
    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.searched = self.searched or self.question

    @property
    def written(self) -> Candidate:
        """The best candidate; an empty one without candidates."""
        return self.candidates[self.best] if self.candidates else Candidate(())

    def tell(self, *texts: str) -> list[Notice]:
        """Keep texts for the answer's notices, and return them as events."""
        self.notices.extend(texts)
        return [Notice(text) for text in texts]

    def take_warnings(self) -> list[Notice]:
        """Convert the warnings so far to notices."""
        return self.tell(*self.warnings.take())

    def spent_before(self, stage: str, seconds: float) -> None:
        """Count seconds that a stage took before the question came to the pipeline."""
        self.timings[stage] = round(self.timings.get(stage, 0.0) + seconds, 4)
        self.started -= seconds

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds that the block takes to the stage's."""
        before = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - before
            self.timings[stage] = round(self.timings.get(stage, 0.0) + spent, 4)
