"""Demonstrations are taken up again by any process, and become episodes that replay to the same states."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from citewell.browser.environment import Browser
from citewell.browser.limits import BrowserLimits
from citewell.browser.page import TextPage
from citewell.browser.recording import Recorded
from citewell.browser.web import Web
from citewell.core.errors import CitewellError, InputError
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.demonstrations import StoredDemonstration
from citewell.server.work.demonstrating import DemonstrationService, DemonstrationState
from citewell.server.work.errors import BrowsedElsewhereError, BrowsingError, BrowsingOverError
from citewell.server.work.public_urls import PublicUrls
from citewell.server.work.reconnecting import Reconnecting
from tests.browser.pages import Shelf, article

QUESTION = "What do crows give?"
OWN = PublicUrls({"notes": ()})
LONG = article("\n".join(f"Line {number} of what crows give." for number in range(90)), "Gifts", path="gifts")
BLACK = article("Crows are black.", path="black")
OPENED = ("Search crows", "Clicked on link 0")


class Changing(Shelf):
    """A web whose pages are gone once each was opened."""

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        page = await super().open(url, question, answer)
        self.pages.pop(url, None)
        return page


class Bench:
    """What a test works with: a store, a web, and as many processes as it makes."""

    def __init__(self, opening: Reconnecting[ServiceStore], web: Web) -> None:
        self.opening = opening
        self.web = web

    @property
    def store(self) -> ServiceStore:
        return self.opening.get()

    def process(self, **options: float) -> DemonstrationService:
        async def open_web(collection: str | None) -> Web:
            return self.web

        return DemonstrationService(self.opening, open_web, **options)  # type: ignore[arg-type]

    async def stored(self, seen: DemonstrationState) -> StoredDemonstration:
        found = await self.store.demonstrations.get(seen.demonstration.id)
        assert found is not None
        return found


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    @asynccontextmanager
    async def opener() -> AsyncIterator[ServiceStore]:
        async with open_store(f"sqlite:///{tmp_path / 'citewell.sqlite3'}") as store:
            yield store

    opening = Reconnecting("database", opener)
    await opening.start()
    yield Bench(opening, Changing(LONG, BLACK))
    await opening.close()


async def give(
    demonstrating: DemonstrationService, seen: DemonstrationState, *commands: str
) -> DemonstrationState:
    for command in commands:
        seen = await demonstrating.act(seen.demonstration, command, seen.demonstration.count)
    return seen


async def test_another_process_takes_a_demonstration_up_where_it_stands(bench: Bench) -> None:
    one, other = bench.process(), bench.process()
    seen = await give(one, await one.begin(QUESTION, "ada", BrowserLimits()), *OPENED, "Scrolled down 1")
    found = await other.see(await bench.stored(seen))
    assert (found.state, found.quotes, found.last) == (seen.state, seen.quotes, found.last)
    assert found.last is not None
    assert found.last.command == "Scrolled down 1"
    # The page is gone from the web, and known to both of them nevertheless.
    further = await give(other, found, "Back", "Clicked on link 0", "Quote: line 3 of what")
    assert [quote.text for quote in further.quotes] == ["Line 3 of what"]
    assert further.state == (await one.see(await bench.stored(further))).state


async def test_what_went_on_elsewhere_is_not_overwritten(bench: Bench) -> None:
    one, other = bench.process(), bench.process()
    begun = await one.begin(QUESTION, None, BrowserLimits())
    await other.see(begun.demonstration)
    gone_on = await give(one, begun, "Search crows")
    with pytest.raises(BrowsedElsewhereError):
        await give(other, begun, "Search ravens")  # it has the demonstration as it was
    with pytest.raises(BrowsedElsewhereError):
        await one.act(gone_on.demonstration, "Search ravens", after=0)
    both = [one.act(gone_on.demonstration, command, after=1) for command in ("Top", "Back")]
    results = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(isinstance(result, DemonstrationState) for result in results) == [False, True]
    stored = await bench.stored(begun)
    assert stored.actions[0].command == "Search crows"
    assert stored.count == len(stored.actions) == 2
    assert len(await bench.store.demonstrations.noted(stored.id)) == 1
    seen = await other.see(stored)
    assert seen.state.title == "Search results for: crows"


async def test_an_episode_has_merged_scrolls_and_replays_to_the_same_states(bench: Bench) -> None:
    people = bench.process()
    seen = await give(people, await people.begin(QUESTION, "ada", BrowserLimits()), *OPENED)
    down = ["Scrolled down 1"] * 4
    seen = await give(
        people, seen, *down, "Scrolled up 1", "Scrolled up 1", "Quote: nowhere", "Quote: Line 40 of what"
    )
    assert seen.state.actions_left == 100 - 7
    assert seen.quotes[0].text == "Line 40 of what"
    with pytest.raises(BrowsingError):
        await people.submit(seen.demonstration, "Gifts [1].", OWN)
    seen = await give(people, seen, "End: Answer")
    assert (seen.ended, seen.demonstration.status) == ("Answer", "answering")
    with pytest.raises(BrowsingOverError):
        await give(people, seen, "Back")
    for answer in ("", "Gifts.", "Gifts [2].", "Gifts [1].\n\n- [9]"):
        with pytest.raises(InputError):
            await people.submit(seen.demonstration, answer, OWN)
    episode = await people.submit(seen.demonstration, " Gifts [1]. ", OWN)
    assert (episode.policy, episode.ending, episode.answer) == ("human", "Answer", "Gifts [1].")
    assert [step.command for step in episode.steps] == [
        *OPENED,
        "Scrolled down 3",
        "Scrolled down 1",
        "Scrolled up 2",
        "Quote: nowhere",
        "Quote: Line 40 of what",
        "End: Answer",
    ]
    assert [step.kind for step in episode.steps][5:] == ["invalid", "quote", "end"]
    stored = await bench.stored(seen)
    assert stored.status == "submitted"
    browser = Browser(Recorded(await people.recording(stored)))
    state = await browser.reset(episode.question)
    for step in episode.steps:
        assert str(state) == step.state
        state, again, _ = await browser.step(step.command)
        assert (again.kind, again.title, again.url) == (step.kind, step.title, step.url)
    assert browser.quotes == episode.quotes
    with pytest.raises(BrowsingOverError):
        await people.submit(stored, "Again [1].", OWN)


@pytest.mark.parametrize("command", ["End: Nonsense", "End: Controversial", "End: Answer"])
async def test_what_gets_no_answer_is_submitted_without_one(bench: Bench, command: str) -> None:
    people = bench.process()
    seen = await give(people, await people.begin(QUESTION, None, BrowserLimits()), command)
    with pytest.raises(InputError, match="no answer"):
        await people.submit(seen.demonstration, "Gifts [1].", OWN)
    assert (await people.submit(seen.demonstration, "", OWN)).ending == seen.ended


async def test_merged_actions_are_what_is_limited(bench: Bench) -> None:
    people = bench.process()
    seen = await people.begin(QUESTION, None, BrowserLimits(actions=4))
    seen = await give(people, seen, *OPENED, *["Scrolled down 1"] * 3)
    assert (seen.ended, seen.state.actions_left) == (None, 1)
    seen = await give(people, seen, "Scrolled down 1")
    assert (seen.ended, seen.state.actions_left) == ("actions", 0)
    again = await bench.process().see(await bench.stored(seen))
    assert (again.ended, again.state) == (seen.ended, seen.state)
    assert (await people.submit(seen.demonstration, "", OWN)).ending == "actions"


async def test_few_browsers_are_in_memory_and_none_that_nobody_uses(bench: Bench) -> None:
    for options in ({"max_open": 1}, {"idle_seconds": 0.0}):
        people = bench.process(**options)
        first, second = [await people.begin(QUESTION, None, BrowserLimits()) for _ in range(2)]
        assert people.in_memory == 1
        first, second = [await give(people, seen, "Search crows") for seen in (first, second)]
        assert people.in_memory == 1
        assert first.state == second.state


async def test_an_action_that_could_not_be_stored_is_not_seen(bench: Bench) -> None:
    class Broken(Shelf):
        async def search(self, query: str) -> TextPage:
            if not self.searched:
                self.searched.append(query)
                raise CitewellError("The web is away.")
            return await super().search(query)

    bench.web = Broken(BLACK)
    people = bench.process()
    begun = await people.begin(QUESTION, None, BrowserLimits())
    with pytest.raises(CitewellError, match="away"):
        await give(people, begun, "Search crows")
    assert (await people.see(begun.demonstration)).state == begun.state
    assert (await give(people, begun, "Search crows")).demonstration.count == 1
