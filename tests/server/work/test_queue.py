"""The desk: turns, the queue, shared runs, leaving, coming back and the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest

from citewell.core.errors import InputError, ServiceError
from citewell.core.events import Done, Event, Notice
from citewell.core.types import Answer
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.ids import new_id
from citewell.server.work.errors import (
    AnswerLateError,
    CancelledError,
    QueueFullError,
    QueueLateError,
    StoppingError,
)
from citewell.server.work.event_log import Numbered
from citewell.server.work.queue import QuestionOutcome, QuestionQueue, QueueLimits, Subscription, Work

ANSWER = Answer("Why?", "answered", "Because.", (), (), models={"generator": "test"})


def asked(question: str = "Why?") -> StoredAnswer:
    now = datetime.now(UTC)
    return StoredAnswer(
        new_id(), None, question, "answer", "running", now, None, None, None, {}, digest=question
    )


class Pipeline:
    """Work that can be held up: it begins, waits for the gate, and ends."""

    def __init__(self, error: Exception | None = None) -> None:
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.runs = 0
        self._error = error

    async def __call__(self) -> AsyncGenerator[Event, None]:
        self.runs += 1
        self.begun.set()
        try:
            yield Notice("begun")
            await self.gate.wait()
            if self._error is not None:
                raise self._error
            yield Done(ANSWER)
        finally:
            self.ended.set()


class Kept:
    """How questions ended, as the desk tells it."""

    def __init__(self) -> None:
        self.outcomes: list[QuestionOutcome] = []
        self.told = asyncio.Event()

    async def __call__(self, outcome: QuestionOutcome) -> None:
        self.outcomes.append(outcome)
        self.told.set()

    @property
    def states(self) -> list[str]:
        return [outcome.status for outcome in self.outcomes]


async def ignore(outcome: QuestionOutcome) -> None:
    pass


def join(desk: QuestionQueue, work: Work, question: str = "Why?") -> Subscription:
    return desk.join(asked(question), work, ignore)


async def names(ticket: Subscription, after: int = 0) -> list[str]:
    return [event.name async for event in ticket.follow(after) if event]


async def test_the_end_is_kept_before_it_is_told() -> None:
    desk, kept, work = QuestionQueue(QueueLimits()), Kept(), Pipeline()
    ticket = desk.join(asked(), work, kept)
    work.gate.set()
    async for event in ticket.follow():
        assert (event is not None and event.name == "done") == bool(kept.outcomes)
    assert kept.states == ["done"]
    assert kept.outcomes[0].answer == ANSWER.to_json()


async def test_events_are_numbered_and_resumed_from_any_of_them() -> None:
    desk, work = QuestionQueue(QueueLimits()), Pipeline()
    ticket = join(desk, work)
    work.gate.set()
    assert await names(ticket) == ["searching", "notice", "done"]
    assert await names(ticket, after=1) == ["notice", "done"]
    assert await names(ticket, after=99) == []
    assert desk.ticket(ticket.about.id) is ticket


async def test_equal_questions_share_a_run_and_each_is_told() -> None:
    desk, work, first, second = QuestionQueue(QueueLimits()), Pipeline(), Kept(), Kept()
    tickets = [desk.join(asked(), work, first), desk.join(asked(), work, second)]
    await work.begun.wait()
    assert (desk.running, desk.waiting) == (1, 0)
    work.gate.set()
    assert [(await ticket.ended()).status for ticket in tickets] == ["done", "done"]
    assert (work.runs, first.states, second.states) == (1, ["done"], ["done"])


async def test_only_so_many_questions_run_and_wait() -> None:
    desk = QuestionQueue(QueueLimits(concurrency=2, queue=1))
    works = [Pipeline() for _ in range(3)]
    tickets = [join(desk, work, f"{number}?") for number, work in enumerate(works)]
    await works[1].begun.wait()
    assert (desk.running, desk.waiting) == (2, 1)
    with pytest.raises(QueueFullError) as refused:
        join(desk, Pipeline(), "4?")
    assert refused.value.retry_after >= 1
    join(desk, Pipeline(), "0?")  # it costs nothing
    works[0].gate.set()
    await works[2].begun.wait()
    assert not works[1].ended.is_set()
    for work in works:
        work.gate.set()
    assert [(await ticket.ended()).status for ticket in tickets] == ["done"] * 3
    assert await names(tickets[2]) == ["queued", "searching", "notice", "done"]


async def test_a_question_that_waits_too_long_fails_and_frees_its_place() -> None:
    desk = QuestionQueue(QueueLimits(concurrency=1, queue=1, queue_seconds=0.01))
    work = Pipeline()
    first, second = join(desk, work, "1?"), join(desk, Pipeline(), "2?")
    outcome = await second.ended()
    assert isinstance(outcome.error, QueueLateError)
    assert desk.waiting == 0
    work.gate.set()
    assert (await first.ended()).status == "done"


async def test_a_question_that_takes_too_long_is_stopped() -> None:
    desk, work = QuestionQueue(QueueLimits(concurrency=1, answer_seconds=0.01)), Pipeline()
    outcome = await join(desk, work).ended()
    assert isinstance(outcome.error, AnswerLateError)
    assert work.ended.is_set()
    again = Pipeline()
    again.gate.set()
    assert (await join(desk, again).ended()).status == "done"


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (InputError("No."), "InputError"),
        (ServiceError("No."), "ServiceError"),
        (TimeoutError(), "InternalError"),
        (ValueError(), "InternalError"),
    ],
)
async def test_a_failure_is_told_to_everyone_and_nobody_after(error: Exception, name: str) -> None:
    desk, work = QuestionQueue(QueueLimits()), Pipeline(error)
    tickets = [join(desk, work), join(desk, work)]
    work.gate.set()
    for ticket in tickets:
        outcome = await ticket.ended()
        assert (outcome.status, type(outcome.error).__name__) == ("failed", name)
        assert (await names(ticket))[-1] == "error"
    again = Pipeline()
    again.gate.set()
    assert (await join(desk, again).ended()).status == "done"


async def test_the_last_one_to_leave_cancels_the_work() -> None:
    desk, work, first, second = QuestionQueue(QueueLimits()), Pipeline(), Kept(), Kept()
    one, other = desk.join(asked(), work, first), desk.join(asked(), work, second)
    await work.begun.wait()
    one.leave()
    await first.told.wait()
    assert first.states == ["cancelled"]
    assert not work.ended.is_set()
    other.leave()
    await work.ended.wait()
    await second.told.wait()
    assert isinstance(second.outcomes[0].error, CancelledError)
    assert (desk.running, desk.waiting) == (0, 0)


async def test_who_waits_for_a_turn_and_leaves_never_runs() -> None:
    desk, work, other, kept = QuestionQueue(QueueLimits(concurrency=1)), Pipeline(), Pipeline(), Kept()
    first = join(desk, work, "1?")
    await work.begun.wait()
    desk.join(asked("2?"), other, kept).leave()
    await kept.told.wait()
    assert kept.states == ["cancelled"]
    work.gate.set()
    await first.ended()
    assert other.runs == 0


async def test_nobody_joins_a_run_that_is_being_cancelled() -> None:
    desk, work = QuestionQueue(QueueLimits()), Pipeline()
    ticket = join(desk, work)
    await work.begun.wait()
    ticket.leave()
    again = Pipeline()
    again.gate.set()
    assert (await join(desk, again).ended()).status == "done"


async def test_a_follower_may_come_back_in_time() -> None:
    desk, work = QuestionQueue(QueueLimits(resume_seconds=0.05)), Pipeline()
    ticket = join(desk, work)
    await first_event(ticket)
    assert not work.ended.is_set()
    events = ticket.follow(1)
    assert (await anext(events)) == Numbered(2, "notice", {"text": "begun"})
    await asyncio.sleep(0.1)  # longer than a lost follower is waited for
    assert not work.ended.is_set()
    await events.aclose()
    await work.ended.wait()
    assert (await ticket.ended()).status == "cancelled"


async def first_event(ticket: Subscription) -> None:
    events = ticket.follow()
    await anext(events)
    await events.aclose()


async def test_a_quiet_question_shows_signs_of_life() -> None:
    desk, work = QuestionQueue(QueueLimits()), Pipeline()
    ticket = join(desk, work)
    signs = 0
    async for event in ticket.follow(2, heartbeat=0.01):
        if event is None:
            signs += 1
            if signs == 3:
                work.gate.set()
    assert signs >= 3


async def test_one_who_cannot_be_told_keeps_nothing_from_the_others() -> None:
    async def fail(outcome: QuestionOutcome) -> None:
        raise OSError("no")

    desk, work, kept = QuestionQueue(QueueLimits()), Pipeline(), Kept()
    one, other = desk.join(asked(), work, fail), desk.join(asked(), work, kept)
    work.gate.set()
    assert [(await one.ended()).status, (await other.ended()).status] == ["done", "done"]
    assert kept.states == ["done"]


async def test_closing_cancels_what_runs_and_refuses_what_comes() -> None:
    desk, work, kept = QuestionQueue(QueueLimits(concurrency=1)), Pipeline(), Kept()
    tickets = [desk.join(asked("1?"), work, kept), desk.join(asked("2?"), Pipeline(), kept)]
    await work.begun.wait()
    await desk.close()
    assert work.ended.is_set()
    assert kept.states == ["cancelled", "cancelled"]
    assert [(await ticket.ended()).status for ticket in tickets] == ["cancelled", "cancelled"]
    with pytest.raises(StoppingError):
        join(desk, Pipeline())


async def test_a_desk_that_is_closed_at_once_tells_of_all_ends() -> None:
    desk, kept = QuestionQueue(QueueLimits()), Kept()
    desk.join(asked(), Pipeline(), kept)
    await desk.close()
    assert kept.states == ["cancelled"]
