"""The way from a question to its stored answer: cached, shared with equal questions, or new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from citewell.core.events import Event
from citewell.server.access.authenticator import Caller
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.work.options import QuestionOptions
from citewell.server.work.pipelines import Pipelines
from citewell.server.work.queue import QuestionQueue
from citewell.server.work.reconnecting import Reconnecting
from citewell.server.work.recorder import EndRecorder
from citewell.server.work.sharing import SharedCollections
from citewell.server.work.subscription import Subscription


class QuestionService:
    """The entrance for questions. Every accepted question is stored, and so is its outcome."""

    def __init__(
        self,
        queue: QuestionQueue,
        store: Reconnecting[ServiceStore],
        pipelines: Reconnecting[Pipelines],
        recorder: EndRecorder,
        shared: SharedCollections,
        *,
        cache_seconds: float,
    ) -> None:
        """Run questions in `queue`; known answers are reused for `cache_seconds`."""
        self._queue = queue
        self._store = store
        self._pipelines = pipelines
        self._recorder = recorder
        self._shared = shared
        self._cache_seconds = cache_seconds

    async def ask(
        self,
        options: QuestionOptions,
        caller: Caller,
        *,
        fresh: bool = False,
        after: StoredAnswer | None = None,
    ) -> Subscription:
        """Take a question; with `fresh`, an answer that the caller knows is not used.

        It searches what its caller may read, and is stored in the conversation of the answer `after`, or in
        one of its own.

        Raises `NotReadyError`, `QueueFullError`, `QueueShareError`, `StoreError`, `InputError`,
        `NoCollectionError` and `NothingToSearchError`: then nothing was accepted.
        """
        pipelines, store, key_id = self._pipelines.get(), self._store.get(), caller.key_id
        pipelines.check(options)
        options = await self._shared.allowed(options, caller)
        asked = await _question(options, key_id, pipelines)
        if after is not None:
            asked = replace(asked, thread=after.thread, title=after.title)
        # Under overload a refusal does not wait for the database, not even if it has the answer.
        if self._cache_seconds and not fresh and not self._queue.is_full(asked.digest):
            since = asked.created - timedelta(seconds=self._cache_seconds)
            known = await store.answers.fresh(asked.digest, key_id, since)
            if known is not None and known.body is not None:
                return await self._give_again(store, asked, known)
        is_stored: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        subscription = self._queue.join(
            asked, partial(_answer, pipelines, options), partial(self._store_end, is_stored)
        )
        # The work begins while the question is being stored; its end is stored after that.
        try:
            await asyncio.shield(_store_question(store, asked, is_stored))
        except BaseException:
            subscription.leave()
            raise
        return subscription

    async def retrieve(self, options: QuestionOptions, caller: Caller) -> Subscription:
        """Take a question for references alone, which is not stored; raises as `ask` does."""
        pipelines = self._pipelines.get()
        pipelines.check(options)
        options = await self._shared.allowed(options, caller)
        asked = await _question(options, caller.key_id, pipelines)
        return self._queue.join(asked, partial(_answer, pipelines, options))

    def subscription(self, answer_id: str) -> Subscription | None:
        """Return the subscription to an answer that this process works on, or finished within the last
        minute."""
        return self._queue.subscription(answer_id)

    def replay(self, answer: StoredAnswer) -> Subscription:
        """Return a subscription to a finished question, for clients that want it as events."""
        return self._queue.replay(answer)

    def cancel(self, answer_id: str) -> bool:
        """Cancel a running question, which stays in the history; returns whether this process knows it."""
        return self._queue.cancel(answer_id)

    def forget(self, answer_id: str) -> None:
        """Cancel a running question, or drop the events of a finished one."""
        self._queue.forget(answer_id)

    async def _give_again(
        self, store: ServiceStore, asked: StoredAnswer, known: StoredAnswer
    ) -> Subscription:
        # Without the digest: the age of an answer counts from its creation.
        settings = asked.settings | {"cached": True}
        answer = replace(asked, status="done", seconds=0.0, body=known.body, digest="", settings=settings)
        await store.answers.add(answer, await store.answers.episode(known.id))
        return self._queue.give_again(answer)

    async def _store_end(self, is_stored: asyncio.Future[bool], answer: StoredAnswer) -> None:
        if await is_stored:
            await self._recorder.keep(answer)


async def _answer(pipelines: Pipelines, options: QuestionOptions) -> AsyncGenerator[Event, None]:
    """Yield the events of a question. Files of this computer appear under their public names."""
    async with aclosing(await pipelines.begin(options)) as events:
        outside = await pipelines.outside(options)
        async for event in events:
            yield outside(event)


async def _store_question(store: ServiceStore, asked: StoredAnswer, is_stored: asyncio.Future[bool]) -> None:
    try:
        await store.answers.add(asked)
    except BaseException:
        is_stored.set_result(False)
        raise
    is_stored.set_result(True)


async def _question(options: QuestionOptions, key_id: str | None, pipelines: Pipelines) -> StoredAnswer:
    return StoredAnswer(
        id=new_id(),
        key_id=key_id,
        question=options.question,
        mode=options.mode,
        status="running",
        created=datetime.now(UTC),
        seconds=None,
        body=None,
        problem=None,
        settings=options.options,
        digest=options.digest(await pipelines.version(options), key_id),
    )
