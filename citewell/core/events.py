"""The events that a pipeline yields while it answers; progress bars, SSE and traces are views of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from citewell.core.types import Answer, Candidate, Failure, Hit, Reference, Sentence


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A follow-up question was rewritten as `question`, which is answered in its place."""

    question: str


@dataclass(frozen=True, slots=True)
class Searched:
    """The search is done. `failures` are the providers that failed."""

    hits: tuple[Hit, ...]
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Browsed:
    """The text browser executed a command. `number` counts from 1.

    An invalid command has a `reason` and no effect. `title` and `url` are of the page open now, None if there
    is none, `quote` is the text quoted by this command, and `quotes` is the number of quotes so far.
    """

    number: int
    command: str
    valid: bool
    reason: str | None = None
    title: str | None = None
    url: str | None = None
    quote: str | None = None
    quotes: int = 0
    actions_left: int = 0
    episode: int = 0
    """Index of the episode, from 0; the episodes of a question run concurrently."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page was fetched and its text extracted. `seconds` counts from the start of the question."""

    url: str
    title: str
    passages: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A page or provider failed; the pipeline continues without it."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Ranked:
    """The references are chosen. `relevant` is False if none is good enough to answer from."""

    references: tuple[Reference, ...]
    relevant: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user, such as that a fallback was used."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """The best quotations of the references, shown until the answer is written."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a candidate answer as it is written, before its citations are checked."""

    text: str
    candidate: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """All candidates have been checked by words and scored; a model may still judge the winner, `best`."""

    candidates: tuple[Candidate, ...]
    best: int


@dataclass(frozen=True, slots=True)
class Done:
    """The last event of every question."""

    answer: Answer


Event = Rewritten | Searched | Browsed | Fetched | Failed | Ranked | Notice | Quoted | Token | Scored | Done


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
