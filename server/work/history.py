"""The history of one question: counts and times, but no text."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from citewell.core.errors import CitewellError
from citewell.core.events import Browsed, Done, Event, Failed, Fetched, Ranked, Scored, Searched, Token

Result = Literal["answered", "retrieved", "no_evidence", "failed", "cancelled", "refused", "cached"]
NANOSECONDS = 1_000_000_000


class TriedPage(NamedTuple):
    """An attempt to read a page: its end, and the kind of failure, empty if the page was read."""

    time: int
    kind: str


@dataclass(eq=False)
class QuestionHistory:
    """A question from when it was asked to its end.

    All times are nanoseconds since 1970, by a clock that is never set back while the question runs. A time is
    None before it has come: a question that shares the run of another one never has `begun`.
    """

    id: str
    mode: str
    asked: int = field(default_factory=time.time_ns)
    began_counting: int = field(default_factory=time.monotonic_ns)
    begun: int | None = None
    searched: int | None = None
    browsed: int | None = None
    """The last action of the text browser."""
    ranked: int | None = None
    first_token: int | None = None
    last_token: int | None = None
    scored: int | None = None
    ended: int | None = None
    result: Result | None = None
    error: CitewellError | None = None
    hits: int = 0
    actions: int = 0
    references: int = 0
    relevant: bool = True
    pieces: int = 0
    """The number of text pieces that the generator wrote."""
    pages: list[TriedPage] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    """The seconds of each stage, as in the answer."""

    def now(self) -> int:
        """Return the current time."""
        return self.asked + time.monotonic_ns() - self.began_counting

    def begin(self) -> None:
        """Note that the work on the question begins."""
        self.begun = self.now()

    def note(self, event: Event) -> None:
        """Note an event."""
        match event:
            case Searched():
                self.searched, self.hits = self.now(), len(event.hits)
            case Browsed():
                self.browsed = self.now()
                self.actions += 1
            case Fetched():
                self.pages.append(TriedPage(self.now(), ""))
            case Failed():
                self.pages.append(TriedPage(self.now(), event.failure.kind or "other"))
            case Ranked():
                self.ranked = self.now()
                self.references, self.relevant = len(event.references), event.relevant
            case Token():
                self.last_token = self.now()
                self.first_token = self.first_token or self.last_token
                self.pieces += 1
            case Scored():
                self.scored = self.now()
            case Done():
                self.timings = event.answer.timings

    def end(self, result: Result, error: CitewellError | None = None) -> None:
        """Note the end."""
        self.ended, self.result, self.error = self.now(), result, error
