"""From an order to its answer: cached, shared with others who ask the same, or worked out; and stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from citewell.core.errors import CitewellError
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.work.options import QuestionOptions
from citewell.server.work.pipelines import Pipelines
from citewell.server.work.queue import QuestionOutcome, QuestionQueue, Subscription
from citewell.server.work.reconnecting import Reconnecting
from citewell.server.work.recorder import EndRecorder, QuestionEnd

Describe = Callable[[CitewellError], dict[str, Any]]
"""An error as it is stored with the question that failed."""


class QuestionService:
    """Takes orders; every one that is accepted is stored, and so is how it ended."""

    def __init__(
        self,
        desk: QuestionQueue,
        store: Reconnecting[ServiceStore],
        pipelines: Reconnecting[Pipelines],
        recorder: EndRecorder,
        *,
        cache_seconds: float,
        describe: Describe,
    ) -> None:
        """Work at `desk`; answers are given again for `cache_seconds`."""
        self._desk = desk
        self._store = store
        self._pipelines = pipelines
        self._recorder = recorder
        self._cache_seconds = cache_seconds
        self._describe = describe

    async def begin(self, order: QuestionOptions, key_id: str | None, *, fresh: bool = False) -> Subscription:
        """Take an order; with `fresh`, an answer that is known already is not used.

        Raises `NotReadyError`, `QueueFullError`, `StoreError`, `InputError` and `NoCollectionError`: then
        nothing was accepted.
        """
        pipelines, store = self._pipelines.get(), self._store.get()
        pipelines.check(order)
        answer = _asked(order, key_id, pipelines)
        # Under overload nobody waits for the database to be refused, not even for an answer that it has.
        if self._cache_seconds and not fresh and not self._desk.is_full(answer.digest):
            since = answer.created - timedelta(seconds=self._cache_seconds)
            known = await store.answers.fresh(answer.digest, since)
            if known is not None and known.body is not None:
                return await self._again(store, answer, known)
        added: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        ticket = self._desk.join(answer, partial(pipelines.run, order), partial(self._keep, answer.id, added))
        # The question is on its way while the database takes it, and its end is stored after that.
        try:
            await asyncio.shield(self._add(store, answer, added))
        except BaseException:
            ticket.leave()
            raise
        return ticket

    def retrieve(self, order: QuestionOptions) -> Subscription:
        """Take an order for references alone, which are not stored; raises as `begin` does."""
        pipelines = self._pipelines.get()
        pipelines.check(order)
        return self._desk.join(_asked(order, None, pipelines), partial(pipelines.run, order), _forget)

    def ticket(self, answer_id: str) -> Subscription | None:
        """The ticket of an answer that was begun here, while it is worked out and for a minute after."""
        return self._desk.ticket(answer_id)

    def replay(self, answer: StoredAnswer) -> Subscription:
        """A ticket for a question that has ended, for those who want it as events."""
        return self._desk.finished(answer, hold=False)

    def forget(self, answer_id: str) -> None:
        """Give up a question that is worked on, and the events of one that has ended."""
        self._desk.forget(answer_id)

    def state(self, ticket: Subscription) -> StoredAnswer:
        """What became of a question so far, also where the database has not taken it yet."""
        end = ticket.outcome
        if end is None or ticket.about.status != "running":
            return ticket.about
        problem = self._describe(end.error) if end.error else None
        return replace(ticket.about, status=end.status, seconds=end.seconds, body=end.answer, problem=problem)

    async def _add(self, store: ServiceStore, answer: StoredAnswer, added: asyncio.Future[bool]) -> None:
        try:
            await store.answers.add(answer)
        except BaseException:
            added.set_result(False)
            raise
        added.set_result(True)

    async def _again(self, store: ServiceStore, answer: StoredAnswer, known: StoredAnswer) -> Subscription:
        assert known.body is not None
        # The digest stays away: an answer grows old from when it was worked out.
        settings = answer.settings | {"cached": True}
        done = replace(answer, status="done", seconds=0.0, body=known.body, digest="", settings=settings)
        await store.answers.add(done, await store.answers.episode(known.id))
        return self._desk.finished(done)

    async def _keep(self, answer_id: str, added: asyncio.Future[bool], outcome: QuestionOutcome) -> None:
        if not await added:
            return
        problem = self._describe(outcome.error) if outcome.error else None
        body = dict(outcome.answer) if outcome.answer else None
        episode = body.pop("episode", None) if body else None
        await self._recorder.keep(
            QuestionEnd(answer_id, outcome.status, outcome.seconds, body, problem, episode)
        )


def _asked(order: QuestionOptions, key_id: str | None, pipelines: Pipelines) -> StoredAnswer:
    return StoredAnswer(
        id=new_id(),
        key_id=key_id,
        question=order.question,
        mode=order.mode,
        status="running",
        created=datetime.now(UTC),
        seconds=None,
        body=None,
        problem=None,
        settings=order.options,
        digest=order.digest(pipelines.version(order)),
    )


async def _forget(outcome: QuestionOutcome) -> None:
    pass
