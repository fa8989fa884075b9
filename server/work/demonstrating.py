"""Running demonstrations: the browser of each, in memory or rebuilt from the store."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from citewell.browser.commands import MOST_SCROLLS
from citewell.browser.environment import Browser
from citewell.browser.episode import Ending, Episode, Step
from citewell.browser.limits import BrowserLimits
from citewell.browser.merging import merge_scrolls
from citewell.browser.page import TextPage
from citewell.browser.policies.human import Human
from citewell.browser.recording import Recorded, RecordedPage, WebRecorder
from citewell.browser.state import State, TakenQuote
from citewell.browser.web import Web
from citewell.core.errors import InputError
from citewell.generator.citations.marks import read_marks
from citewell.server.store.database import ServiceStore
from citewell.server.store.demonstrations import StoredDemonstration
from citewell.server.store.ids import new_id
from citewell.server.work.demonstrated import written_answer
from citewell.server.work.errors import BrowsedElsewhereError, BrowsingError, BrowsingOverError
from citewell.server.work.public_urls import PublicUrls
from citewell.server.work.reconnecting import Reconnecting
from citewell.server.work.turns import FairTurns

MAX_OPEN = 64  # browsers in memory
IDLE_SECONDS = 1800.0  # after which an unused browser is closed
_CONCURRENCY = 4  # actions that run concurrently
_OUTDATED = -1  # the count of a browser that has to be rebuilt

OpenWeb = Callable[[str | None], Awaitable[Web]]
"""A function that opens the web of the settings, or the collection with this name instead."""


class DemonstrationState(NamedTuple):
    """A demonstration as its author sees it: the visible page, and the result of the last action.

    `state` counts repeated scrolls as merged. `ended` is None while browsing.
    """

    demonstration: StoredDemonstration
    state: State
    quotes: tuple[TakenQuote, ...]
    last: Step | None
    ended: Ending | None


class _Live:
    """The web of a demonstration, opened for each page: a collection may be closed to open another."""

    def __init__(self, open_web: OpenWeb, collection: str | None) -> None:
        self._open_web = open_web
        self._collection = collection

    async def search(self, query: str) -> TextPage:
        return await (await self._open_web(self._collection)).search(query)

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        return await (await self._open_web(self._collection)).open(url, question, answer)


@dataclass(eq=False)
class _Session:
    """The browser of one demonstration, after `count` actions."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    shown: float = field(default_factory=time.monotonic)
    count: int = _OUTDATED
    web: WebRecorder | None = None
    browser: Browser | None = None
    seen: DemonstrationState | None = None


class DemonstrationService:
    """The runner and recorder of people's actions in demonstrations. A demonstration can be resumed at any
    time, by any process: if its browser is not in memory, its actions are replayed on the stored responses of
    the web.
    """

    def __init__(
        self,
        store: Reconnecting[ServiceStore],
        open_web: OpenWeb,
        *,
        max_open: int = MAX_OPEN,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """Browse what `open_web` opens, with at most `max_open` browsers in memory."""
        self._store = store
        self._open_web = open_web
        self._max_open = max_open
        self._idle_seconds = idle_seconds
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._turns = FairTurns(_CONCURRENCY)

    @property
    def in_memory(self) -> int:
        """The number of browsers in memory."""
        return len(self._sessions)

    async def begin(
        self,
        question: str,
        key_id: str | None,
        limits: BrowserLimits,
        *,
        collection: str | None = None,
        reference: str = "",
    ) -> DemonstrationState:
        """Start a demonstration. Pages that contain the `reference` answer are not shown."""
        now = datetime.now(UTC)
        options = {"limits": msgspec.to_builtins(limits), "collection": collection, "reference": reference}
        demonstration = StoredDemonstration(
            new_id(), key_id, question, options, "browsing", 0, (), created=now, updated=now
        )
        await self._store.get().demonstrations.add(demonstration)
        return await self.see(demonstration)

    async def see(self, demonstration: StoredDemonstration) -> DemonstrationState:
        """Return the current state."""
        async with self._session(demonstration) as session:
            assert session.seen is not None
            session.shown = time.monotonic()
            return session.seen

    async def act(self, demonstration: StoredDemonstration, command: str, after: int) -> DemonstrationState:
        """Run and store a command, given in the state after `after` actions.

        Raises `BrowsingOverError` once browsing has ended, and `BrowsedElsewhereError` if that is not the
        last state.
        """
        if demonstration.status != "browsing":
            raise BrowsingOverError
        if demonstration.count != after:
            raise BrowsedElsewhereError
        async with self._turns.turn(demonstration.key_id), self._session(demonstration) as session:
            assert session.browser is not None
            assert session.web is not None
            seconds = round(time.monotonic() - session.shown, 3)
            session.count = _OUTDATED  # until it is stored
            outcome = await session.browser.step(command)
            commands = [*(action.command for action in demonstration.actions), command]
            left = _limits(demonstration).actions - len(merge_scrolls(commands))
            ended = outcome.ended or (None if left > 0 else "actions")
            stored = await self._store.get().demonstrations.act(
                demonstration,
                command,
                seconds,
                msgspec.to_builtins(session.web.taken()),
                "answering" if ended else "browsing",
            )
            if stored is None:
                raise BrowsedElsewhereError
            session.seen = _seen(stored, outcome.state, session.browser, outcome.step, ended)
            session.count, session.shown = stored.count, time.monotonic()
            return session.seen

    async def submit(self, demonstration: StoredDemonstration, answer: str, urls: PublicUrls) -> Episode:
        """Store the answer and the episode of a demonstration.

        An answer with text becomes one of the service's answers, under the id of the demonstration. In the
        episode, files have their public URLs, repeated scrolls are merged, and each state is as a model would
        have seen it. Raises `BrowsingError` until browsing has ended, `BrowsingOverError` if the
        demonstration was submitted before, and `InputError` if the answer is missing, not wanted, or cites a
        quote that does not exist.
        """
        if demonstration.status == "browsing":
            raise BrowsingError
        if demonstration.status == "submitted":
            raise BrowsingOverError
        episode = urls.outside(await self._episode(demonstration, answer.strip()))
        _check_answer(episode)
        if not await self._store.get().demonstrations.submit(demonstration, msgspec.to_builtins(episode)):
            raise BrowsedElsewhereError
        if episode.answer:
            await self._store.get().answers.add(written_answer(demonstration, episode), lasting=True)
        self.forget(demonstration.id)
        return episode

    async def recording(self, demonstration: StoredDemonstration) -> list[RecordedPage]:
        """Return the web's responses in a demonstration, in the order of its actions."""
        noted = await self._store.get().demonstrations.noted(demonstration.id)
        given = [each for action in demonstration.actions for each in noted.get(action.pages or "", [])]
        return msgspec.convert(given, list[RecordedPage])

    def forget(self, id_: str) -> None:
        """Close the browser of a demonstration."""
        self._sessions.pop(id_, None)

    @asynccontextmanager
    async def _session(self, demonstration: StoredDemonstration) -> AsyncGenerator[_Session, None]:
        """Open the browser of a demonstration after all its actions, for one caller at a time."""
        session = self._sessions.setdefault(demonstration.id, _Session())
        self._sessions.move_to_end(demonstration.id)
        self._make_room()
        async with session.lock:
            if session.count != demonstration.count:
                session.count = _OUTDATED
                await self._rebuild(session, demonstration)
                session.count = demonstration.count
            yield session

    def _make_room(self) -> None:
        now = time.monotonic()
        for id_, session in list(self._sessions.items())[:-1]:
            is_idle = now - session.shown > self._idle_seconds
            if (is_idle or len(self._sessions) > self._max_open) and not session.lock.locked():
                del self._sessions[id_]

    async def _rebuild(self, session: _Session, demonstration: StoredDemonstration) -> None:
        limits = _limits(demonstration)
        # Single scrolls count one by one here, but merged into at most three in the episode.
        most = max(limits.actions * MOST_SCROLLS, demonstration.count + 1)
        live = _Live(self._open_web, demonstration.options["collection"])
        web = session.web = WebRecorder(live, await self.recording(demonstration))
        browser = session.browser = Browser(web, limits)
        reference = demonstration.options["reference"]
        state = await browser.reset(demonstration.question, answer=reference, actions=most)
        step: Step | None = None
        ended: Ending | None = None
        for action in demonstration.actions:
            state, step, ended = await browser.step(action.command)
        if demonstration.status != "browsing":
            ended = ended or "actions"
        session.seen = _seen(demonstration, state, browser, step, ended)

    async def _episode(self, demonstration: StoredDemonstration, answer: str) -> Episode:
        browser = Browser(Recorded(await self.recording(demonstration)), _limits(demonstration))
        await browser.reset(demonstration.question, answer=demonstration.options["reference"])
        steps: list[Step] = []
        actions = iter(demonstration.actions)
        for merged in merge_scrolls(action.command for action in demonstration.actions):
            seconds = sum(next(actions).seconds for _ in range(merged.given))
            outcome = await browser.step(merged.command)
            steps.append(replace(outcome.step, seconds=round(seconds, 3)))
        about = {
            "demonstrator": demonstration.key_id or "",
            "collection": demonstration.options["collection"] or "",
            "limits": msgspec.json.encode(demonstration.options["limits"]).decode(),
        }
        return Episode(
            id=demonstration.id,
            question=browser.question,
            policy=Human.name,
            steps=tuple(steps),
            quotes=browser.quotes,
            ending=browser.ending or "abandoned",
            answer=answer or None,
            created=demonstration.created.isoformat(),
            seconds=round(sum(step.seconds for step in steps), 3),
            about=about,
        )


def _limits(demonstration: StoredDemonstration) -> BrowserLimits:
    return msgspec.convert(demonstration.options["limits"], BrowserLimits)


def _seen(
    demonstration: StoredDemonstration,
    state: State,
    browser: Browser,
    last: Step | None,
    ended: Ending | None,
) -> DemonstrationState:
    merged = merge_scrolls(action.command for action in demonstration.actions)
    left = max(_limits(demonstration).actions - len(merged), 0)
    return DemonstrationState(demonstration, replace(state, actions_left=left), browser.quotes, last, ended)


def _check_answer(episode: Episode) -> None:
    if episode.ending in ("Nonsense", "Controversial") or not episode.quotes:
        if episode.answer:
            raise InputError(
                "A question that was ended so, or for which nothing was quoted, has no answer.",
                "Submit it without one.",
            )
        return
    if not episode.answer:
        raise InputError("The answer is empty.", "Write an answer from the quotes.")
    readings = (read_marks(episode.answer), read_marks(episode.answer, markdown=True))
    cited = {mark for sentences in readings for sentence in sentences for mark in sentence.marks}
    if not cited:
        raise InputError("The answer has no citations.", "Cite quotes by number, as in [1].")
    if unknown := sorted(number for number in cited if not 1 <= number <= len(episode.quotes)):
        raise InputError(
            f"The answer cites [{unknown[0]}], but there are {len(episode.quotes)} quotes.",
            "Quotes count from 1.",
        )
