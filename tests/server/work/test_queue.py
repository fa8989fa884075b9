"""The queue of questions: turns, shared runs, leaving, coming back and the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from citewell.core.errors import InputError, ServiceError
from citewell.core.events import Done, Event, Notice, Ranked
from citewell.core.types import Answer, Reference
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.ids import new_id
from citewell.server.work.errors import (
    AnswerLateError,
    CancelledError,
    QueueFullError,
    QueueLateError,
    QueueShareError,
    StoppingError,
)
from citewell.server.work.event_log import NumberedEvent, QuestionEnded, QuestionEvent
from citewell.server.work.history import QuestionHistory
from citewell.server.work.queue import QuestionQueue, QueueLimits, Work
from citewell.server.work.subscription import Subscription

ANSWER = Answer("Why?", "answered", "Because.", (), (), models={"generator": "test"})


def asked(question: str = "Why?", key: str | None = None) -> StoredAnswer:
    now = datetime.now(UTC)
    return StoredAnswer(
        new_id(), key, question, "answer", "running", now, None, None, None, {}, digest=question
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
    """How questions ended, as they are stored."""

    def __init__(self) -> None:
        self.answers: list[StoredAnswer] = []
        self.told = asyncio.Event()

    async def __call__(self, answer: StoredAnswer) -> None:
        self.answers.append(answer)
        self.told.set()

    @property
    def statuses(self) -> list[str]:
        return [answer.status for answer in self.answers]


class Observer:
    """What an observer of a queue sees."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.results: list[str | None] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    def on_end(self, history: QuestionHistory) -> None:
        self.results.append(history.result)


def join(queue: QuestionQueue, work: Work, question: str = "Why?") -> Subscription:
    return queue.join(asked(question), work)


async def status_of(subscription: Subscription) -> str:
    with suppress(Exception):
        await subscription.ended()
    return subscription.answer.status


async def error_of(subscription: Subscription) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        await subscription.ended()
    return raised.value


async def events(subscription: Subscription, after: int = 0) -> list[QuestionEvent]:
    return [numbered.event async for numbered in subscription.follow(after) if numbered]


async def names(subscription: Subscription, after: int = 0) -> list[str]:
    return [type(event).__name__ for event in await events(subscription, after)]


async def test_the_end_is_kept_before_it_is_told() -> None:
    queue, kept, work = QuestionQueue(QueueLimits()), Kept(), Pipeline()
    subscription = queue.join(asked(), work, kept)
    work.gate.set()
    async for event in subscription.follow():
        assert (event is not None and isinstance(event.event, QuestionEnded)) == bool(kept.answers)
    assert kept.statuses == ["done"]
    assert kept.answers[0].body == ANSWER.to_json()


async def test_each_caller_gets_its_own_answer_with_the_last_event() -> None:
    queue, work = QuestionQueue(QueueLimits()), Pipeline()
    first, second = join(queue, work), join(queue, work)
    work.gate.set()
    ends = [(await events(subscription))[-1] for subscription in (first, second)]
    for end, subscription in zip(ends, (first, second), strict=True):
        assert isinstance(end, QuestionEnded)
        assert end.answer is subscription.answer
        assert (end.answer.status, end.answer.body) == ("done", ANSWER.to_json())
    assert first.answer.id != second.answer.id


async def test_events_are_numbered_and_resumed_from_any_of_them() -> None:
    queue, work = QuestionQueue(QueueLimits()), Pipeline()
    subscription = join(queue, work)
    work.gate.set()
    assert await names(subscription) == ["Started", "Notice", "QuestionEnded"]
    assert await names(subscription, after=1) == ["Notice", "QuestionEnded"]
    assert await names(subscription, after=99) == []
    assert queue.subscription(subscription.answer.id) is subscription


async def test_equal_questions_share_a_run_and_each_is_told() -> None:
    queue, work, first, second = QuestionQueue(QueueLimits()), Pipeline(), Kept(), Kept()
    subscriptions = [queue.join(asked(), work, first), queue.join(asked(), work, second)]
    await work.begun.wait()
    assert (queue.running, queue.waiting) == (1, 0)
    work.gate.set()
    assert [await status_of(subscription) for subscription in subscriptions] == ["done", "done"]
    assert (work.runs, first.statuses, second.statuses) == (1, ["done"], ["done"])


async def test_only_so_many_questions_run_and_wait() -> None:
    queue = QuestionQueue(QueueLimits(concurrency=2, queue=1))
    works = [Pipeline() for _ in range(3)]
    subscriptions = [join(queue, work, f"{number}?") for number, work in enumerate(works)]
    await works[1].begun.wait()
    assert (queue.running, queue.waiting) == (2, 1)
    with pytest.raises(QueueFullError) as refused:
        join(queue, Pipeline(), "4?")
    assert refused.value.retry_after >= 1
    join(queue, Pipeline(), "0?")  # it costs nothing
    works[0].gate.set()
    await works[2].begun.wait()
    assert not works[1].ended.is_set()
    for work in works:
        work.gate.set()
    assert [await status_of(subscription) for subscription in subscriptions] == ["done"] * 3
    assert await names(subscriptions[2]) == ["QuestionQueued", "Started", "Notice", "QuestionEnded"]


async def test_a_question_that_waits_too_long_fails_and_frees_its_place() -> None:
    queue = QuestionQueue(QueueLimits(concurrency=1, queue=1, queue_seconds=0.01))
    work = Pipeline()
    first, second = join(queue, work, "1?"), join(queue, Pipeline(), "2?")
    assert isinstance(await error_of(second), QueueLateError)
    assert queue.waiting == 0
    work.gate.set()
    assert await status_of(first) == "done"


async def test_a_question_that_takes_too_long_is_stopped() -> None:
    queue, work = QuestionQueue(QueueLimits(concurrency=1, answer_seconds=0.01)), Pipeline()
    assert isinstance(await error_of(join(queue, work)), AnswerLateError)
    assert work.ended.is_set()
    again = Pipeline()
    again.gate.set()
    assert await status_of(join(queue, again)) == "done"


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
    queue, work = QuestionQueue(QueueLimits()), Pipeline(error)
    subscriptions = [join(queue, work), join(queue, work)]
    work.gate.set()
    for subscription in subscriptions:
        assert type(await error_of(subscription)).__name__ == name
        end = (await events(subscription))[-1]
        assert isinstance(end, QuestionEnded)
        assert (end.answer.status, end.error) == ("failed", subscription.error)
        assert end.answer.problem is not None
    again = Pipeline()
    again.gate.set()
    assert await status_of(join(queue, again)) == "done"


async def test_the_last_one_to_leave_cancels_the_work() -> None:
    queue, work, first, second = QuestionQueue(QueueLimits()), Pipeline(), Kept(), Kept()
    one, other = queue.join(asked(), work, first), queue.join(asked(), work, second)
    await work.begun.wait()
    one.leave()
    await first.told.wait()
    assert first.statuses == ["cancelled"]
    assert not work.ended.is_set()
    other.leave()
    await work.ended.wait()
    await second.told.wait()
    assert isinstance(other.error, CancelledError)
    assert (queue.running, queue.waiting) == (0, 0)


async def test_who_waits_for_a_turn_and_leaves_never_runs() -> None:
    queue, work, other, kept = QuestionQueue(QueueLimits(concurrency=1)), Pipeline(), Pipeline(), Kept()
    first = join(queue, work, "1?")
    await work.begun.wait()
    queue.join(asked("2?"), other, kept).leave()
    await kept.told.wait()
    assert kept.statuses == ["cancelled"]
    work.gate.set()
    await first.ended()
    assert other.runs == 0


async def test_nobody_joins_a_run_that_is_being_cancelled() -> None:
    queue, work = QuestionQueue(QueueLimits()), Pipeline()
    subscription = join(queue, work)
    await work.begun.wait()
    subscription.leave()
    again = Pipeline()
    again.gate.set()
    assert await status_of(join(queue, again)) == "done"


async def test_a_follower_may_come_back_in_time() -> None:
    queue, work = QuestionQueue(QueueLimits(resume_seconds=0.05)), Pipeline()
    subscription = join(queue, work)
    await first_event(subscription)
    assert not work.ended.is_set()
    following = subscription.follow(1)
    assert (await anext(following)) == NumberedEvent(2, Notice("begun"))
    await asyncio.sleep(0.1)  # longer than a lost follower is waited for
    assert not work.ended.is_set()
    await following.aclose()
    await work.ended.wait()
    assert await status_of(subscription) == "cancelled"


async def test_a_follower_that_leaves_takes_nothing_from_who_waits_for_the_end() -> None:
    queue, work = QuestionQueue(QueueLimits(resume_seconds=0.05)), Pipeline()
    subscription = join(queue, work)
    waiting = asyncio.create_task(subscription.ended())
    await first_event(subscription)
    await asyncio.sleep(0.1)
    assert not work.ended.is_set()
    work.gate.set()
    assert (await waiting).status == "done"


async def first_event(subscription: Subscription) -> None:
    following = subscription.follow()
    await anext(following)
    await following.aclose()


async def test_a_quiet_question_shows_signs_of_life() -> None:
    queue, work = QuestionQueue(QueueLimits()), Pipeline()
    subscription = join(queue, work)
    signs = 0
    async for event in subscription.follow(2, heartbeat=0.01):
        if event is None:
            signs += 1
            if signs == 3:
                work.gate.set()
    assert signs >= 3


async def test_one_who_cannot_be_told_keeps_nothing_from_the_others() -> None:
    async def fail(answer: StoredAnswer) -> None:
        raise OSError("no")

    queue, work, kept = QuestionQueue(QueueLimits()), Pipeline(), Kept()
    one, other = queue.join(asked(), work, fail), queue.join(asked(), work, kept)
    work.gate.set()
    assert [await status_of(one), await status_of(other)] == ["done", "done"]
    assert kept.statuses == ["done"]


async def test_closing_cancels_what_runs_and_refuses_what_comes() -> None:
    queue, work, kept = QuestionQueue(QueueLimits(concurrency=1)), Pipeline(), Kept()
    subscriptions = [queue.join(asked("1?"), work, kept), queue.join(asked("2?"), Pipeline(), kept)]
    await work.begun.wait()
    await queue.close()
    assert work.ended.is_set()
    assert kept.statuses == ["cancelled", "cancelled"]
    assert [await status_of(subscription) for subscription in subscriptions] == ["cancelled", "cancelled"]
    with pytest.raises(StoppingError):
        join(queue, Pipeline())


async def test_a_queue_that_is_closed_at_once_tells_of_all_ends() -> None:
    queue, kept = QuestionQueue(QueueLimits()), Kept()
    queue.join(asked(), Pipeline(), kept)
    await queue.close()
    assert kept.statuses == ["cancelled"]


async def test_observers_see_each_event_once_and_the_end_of_each_caller() -> None:
    observer, work = Observer(), Pipeline()
    queue = QuestionQueue(QueueLimits(concurrency=1, queue=0), [observer])
    first, second = join(queue, work), join(queue, work)
    with pytest.raises(QueueFullError):
        join(queue, Pipeline(), "another?")
    work.gate.set()
    await asyncio.gather(first.ended(), second.ended())
    queue.give_again(first.answer)
    queue.replay(first.answer)
    assert observer.events == [Notice("begun"), Done(ANSWER)]
    assert observer.results == ["refused", "answered", "answered", "cached"]


async def test_a_question_that_has_ended_can_be_replayed() -> None:
    queue = QuestionQueue(QueueLimits())
    references = (Reference(1, "https://a.example", "A", "Because.", 0.5),)
    body = replace(ANSWER, references=references).to_json()
    known = replace(asked(), status="done", seconds=0.1, body=body)
    ranked, end = await events(queue.replay(known))
    assert ranked == Ranked(references, relevant=True)
    assert end == QuestionEnded(known)
    failed = replace(asked(), status="failed", problem={"title": "Late"})
    assert await events(queue.replay(failed)) == [QuestionEnded(failed)]


async def test_one_key_leaves_places_to_others() -> None:
    queue, work = QuestionQueue(QueueLimits(concurrency=2, queue=14)), Pipeline()
    for number in range(14):
        queue.join(asked(f"mine {number}", "mine"), work)
    with pytest.raises(QueueShareError, match="14 requests of this key"):
        queue.join(asked("mine 15", "mine"), work)
    queue.join(asked("mine 3", "mine"), work)  # it takes no place
    queue.join(asked("other", "other"), work)
    queue.join(asked("other 2", "other"), work)
    with pytest.raises(QueueFullError):
        queue.join(asked("third", "third"), work)
    await queue.close()


async def test_keys_take_turns() -> None:
    queue, gate = QuestionQueue(QueueLimits(concurrency=1, queue=20)), Pipeline()
    order: list[str] = []

    def noting(name: str) -> Work:
        async def work() -> AsyncGenerator[Event, None]:
            order.append(name)
            yield Done(ANSWER)

        return work

    queue.join(asked("first", "a"), gate)
    await gate.begun.wait()
    names = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]
    following = [queue.join(asked(name, name[0]), noting(name)) for name in names]
    await asyncio.sleep(0)
    following[1].leave()
    gate.gate.set()
    for subscription in following[:1] + following[2:]:
        await subscription.ended()
    assert order == ["a1", "b1", "c1", "a3", "b2", "a4"]
    await queue.close()
