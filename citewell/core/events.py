"""The stream of events that a pipeline yields: progress bars and JSON are views of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from citewell.core.types import Answer, Candidate, Failure, Hit, Reference


@dataclass(frozen=True, slots=True)
class Searched:
    """The coarse search is done. `failures` are the providers that did not answer."""

    hits: tuple[Hit, ...]
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Browsed:
    """A command was given to the text browser. `number` counts from 1.

    An invalid one has a `reason` and changed nothing. `title` and `url` are those of the page that is open
    now, and `quote` the words that were taken, if they were; `quotes` are all so far.
    """

    number: int
    command: str
    valid: bool
    reason: str = ""
    title: str = ""
    url: str = ""
    quote: str = ""
    quotes: int = 0
    actions_left: int = 0
    episode: int = 0
    """The place among several episodes for the same question, from 0; they run side by side."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page was fetched and its paragraphs were read. `seconds` counts from the question's start."""

    url: str
    title: str
    passages: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A page or a provider gave nothing; the question goes on without it."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Ranked:
    """The references are chosen. `relevant` is False when none of them is good enough to answer from."""

    references: tuple[Reference, ...]
    relevant: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person who asked should know, such as a fallback that was taken."""

    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text of a candidate answer, as it is written and before its citations are checked."""

    text: str
    candidate: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """All candidates are checked and scored; `best` is the index of the winner."""

    candidates: tuple[Candidate, ...]
    best: int


@dataclass(frozen=True, slots=True)
class Done:
    """The last event of every question."""

    answer: Answer


Event = Searched | Browsed | Fetched | Failed | Ranked | Notice | Token | Scored | Done


async def final_answer(
    events: AsyncGenerator[Event, None], on_event: Callable[[Event], object] | None = None
) -> Answer:
    """Read a question's events to their end, and return the answer that the last one, `Done`, holds.

    `on_event` sees each event, also the last. The stream is closed whatever happens.
    """
    async with aclosing(events) as stream:
        async for event in stream:
            if on_event is not None:
                on_event(event)
            if isinstance(event, Done):
                return event.answer
    raise AssertionError("a stream of events ends with Done")
