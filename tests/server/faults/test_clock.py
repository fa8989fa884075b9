"""The clock of the computer is set, while the service runs.

A test cannot set it; that all stored times move by hours, while the clock stays, is the same to the service.
What counts minutes and waits is not told by that clock: the tests of the limiters show it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.small_service import BATS
from citewell.server.access.authenticator import Authenticator
from citewell.server.access.errors import WrongKeyError
from citewell.server.access.keys import ApiKey, new_key
from tests.server.api.conftest import Search, Service, Start
from tests.server.faults.conftest import answers_again, searching, states, until


def shift(service: Service, hours: int) -> None:
    """Move the time of every stored answer, as if the clock had been set the other way."""
    url = service.settings.server.database_url.get_secret_value()
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)) as database, database:
        for id_, created in database.execute("SELECT id, created FROM answers").fetchall():
            moved = datetime.fromisoformat(created) + timedelta(hours=hours)
            database.execute("UPDATE answers SET created = ? WHERE id = ?", (moved.isoformat(" "), id_))


def test_an_answer_from_the_future_is_not_given_again(start: Start) -> None:
    """Once a clock that was ahead is put right, an answer must not stay fresh until then."""
    service = start()
    assert [service.ask(BATS).json()["cached"] for _ in range(2)] == [False, True]
    shift(service, 24)
    assert [service.ask(BATS).json()["cached"] for _ in range(2)] == [False, True]
    shift(service, -48)
    assert service.ask(BATS).json()["cached"] is False


@pytest.mark.parametrize("hours", [24, -24])
def test_a_question_that_runs_while_the_clock_is_set_is_answered(
    start: Start, search: Search, hours: int
) -> None:
    service = start(**searching(search))
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(service.ask, "Why?")
        search.await_question()
        until(lambda: states(service.client))
        shift(service, hours)
        (address,) = states(service.client)
        assert service.client.get(address).json()["status"] == "running"
        search.gate.set()
        assert asking.result().json()["status"] == "done"
    assert states(service.client) == {address: "done"}
    assert 0 <= service.client.get(address).json()["seconds"] < 3_600
    assert answers_again(service)


class Ring:
    """Two keys, one of which ends."""

    def __init__(self, *keys: ApiKey) -> None:
        self._keys = {key.id: key for key in keys}

    async def get(self, id_: str) -> ApiKey | None:
        return self._keys.get(id_)

    async def count(self) -> int:
        return len(self._keys)


def jumps() -> Iterator[datetime]:
    now = datetime.now(UTC)
    for days in (0, 400, -400, 0):
        yield now + timedelta(days=days)


async def test_keys_end_by_the_clock_and_come_back_with_it() -> None:
    lasting, ending = new_key("lasting", ("ask",)), new_key("ending", ("ask",))
    ring = Ring(lasting.key, replace(ending.key, expires=datetime.now(UTC) + timedelta(days=30)))
    times = jumps()
    now = next(times)
    authenticator = Authenticator(ring, now=lambda: now)
    for held in (True, False, True, True):
        assert (await authenticator.admit(f"Bearer {lasting.secret}", "ask")).key_id == lasting.key.id
        if held:
            assert (await authenticator.admit(f"Bearer {ending.secret}", "ask")).key_id == ending.key.id
        else:
            with pytest.raises(WrongKeyError):
                await authenticator.admit(f"Bearer {ending.secret}", "ask")
        now = next(times, now)
