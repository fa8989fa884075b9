"""Demonstrations grow by one action at a time, whoever stores them, and are given back the same."""

from __future__ import annotations

import asyncio
import dataclasses

from citewell.server.store.database import ServiceStore
from citewell.server.store.demonstrations import StoredAction

from .samples import answer, demonstration

NOTED = [{"kind": "search", "key": "crows", "page": {"text": "【0†Crows†birds.example】\0 🐦"}}]
EPISODE = {"id": "e", "question": "What do crows give?", "steps": [], "answer": "Gifts [1]."}


async def test_a_demonstration_grows_action_by_action(store: ServiceStore) -> None:
    begun = demonstration(key_id="ada")
    await store.demonstrations.add(begun)
    assert await store.demonstrations.get(begun.id) == begun
    searched = await store.demonstrations.act(begun, "Search crows", 1.5, NOTED, "browsing")
    assert searched is not None
    ended = await store.demonstrations.act(searched, "End: Answer", 0.25, [], "answering")
    assert ended is not None
    assert await store.demonstrations.get(begun.id) == ended
    first, second = ended.actions
    assert (first.command, first.seconds, second) == ("Search crows", 1.5, StoredAction("End: Answer", 0.25))
    assert (ended.count, ended.status) == (2, "answering")
    assert await store.demonstrations.noted(begun.id) == {first.pages: NOTED}
    assert await store.demonstrations.episode(begun.id) is None
    assert await store.demonstrations.submit(ended, EPISODE)
    assert await store.demonstrations.episode(begun.id) == EPISODE
    assert not await store.demonstrations.submit(ended, EPISODE)
    stored = await store.demonstrations.get(begun.id)
    assert stored is not None
    assert stored == dataclasses.replace(ended, status="submitted", updated=stored.updated)
    assert [each async for each in store.demonstrations.each_episode()] == [EPISODE]


async def test_of_two_actions_at_once_one_is_stored(store: ServiceStore) -> None:
    begun = demonstration()
    await store.demonstrations.add(begun)
    acted = [store.demonstrations.act(begun, command, 0.0, NOTED, "browsing") for command in ("Top", "Back")]
    results = await asyncio.gather(*acted)
    assert sorted(result is None for result in results) == [False, True]
    (stored,) = (result for result in results if result)
    assert await store.demonstrations.get(begun.id) == stored
    assert len(await store.demonstrations.noted(begun.id)) == 1


async def test_what_is_deleted_is_gone_with_its_pages(store: ServiceStore) -> None:
    begun, other = demonstration(), demonstration()
    for each in (begun, other):
        await store.demonstrations.add(each)
        assert await store.demonstrations.act(each, "Search crows", 0.0, NOTED, "browsing")
    assert await store.demonstrations.delete(begun.id)
    assert not await store.demonstrations.delete(begun.id)
    assert await store.demonstrations.get(begun.id) is None
    assert await store.demonstrations.noted(begun.id) == {}
    assert await store.demonstrations.act(begun, "Top", 0.0, NOTED, "browsing") is None
    assert await store.demonstrations.noted(begun.id) == {}
    assert len(await store.demonstrations.noted(other.id)) == 1


async def test_pages_of_demonstrations_are_the_newest_first_and_a_key_s_own(store: ServiceStore) -> None:
    given = [demonstration(key_id="ada" if number % 2 else "bob") for number in range(4)]
    for each in given:
        await store.demonstrations.add(each)
    newest = given[::-1]
    assert await store.demonstrations.page(None, 3) == newest[:3]
    assert await store.demonstrations.page(None, 3, before=newest[2].id) == newest[3:]
    assert await store.demonstrations.page("ada", 3) == newest[::2]


async def test_an_answer_has_its_episode_beside_it(store: ServiceStore) -> None:
    found, plain = answer(), answer()
    for each in (found, plain):
        await store.answers.add(each)
    await store.answers.finish(found.id, body={}, problem=None, status="done", seconds=1.0, episode=EPISODE)
    await store.answers.finish(plain.id, body={}, problem=None, status="done", seconds=1.0)
    assert await store.answers.episode(found.id) == EPISODE
    assert await store.answers.episode(plain.id) is None
    assert await store.answers.episode("no-such-answer") is None
