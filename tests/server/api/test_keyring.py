"""Keys are remembered for a second, and no longer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from citewell.server.access.keys import ApiKey, new_key
from citewell.server.api.keyring import RememberedKeys


class Ring:
    def __init__(self) -> None:
        self.keys: dict[str, ApiKey] = {}
        self.asked = 0

    async def get(self, id_: str) -> ApiKey | None:
        self.asked += 1
        return self.keys.get(id_)

    async def count(self) -> int:
        self.asked += 1
        return len(self.keys)


async def test_a_key_that_is_revoked_is_known_to_be_so_after_a_second() -> None:
    ring, now = Ring(), [0.0]
    remembered = RememberedKeys(lambda: ring, clock=lambda: now[0])
    key = new_key("test", ("ask",)).key
    ring.keys[key.id] = key
    assert await remembered.get(key.id) == key
    ring.keys[key.id] = replace(key, revoked=datetime.now(UTC))
    now[0] = 0.9
    assert await remembered.get(key.id) == key
    assert ring.asked == 1
    now[0] = 1.0
    found = await remembered.get(key.id)
    assert found is not None
    assert found.revoked


async def test_a_key_that_was_not_there_is_looked_for_again() -> None:
    ring = Ring()
    remembered = RememberedKeys(lambda: ring, clock=lambda: 0.0)
    key = new_key("test", ("ask",)).key
    assert await remembered.get(key.id) is None
    ring.keys[key.id] = key
    assert await remembered.get(key.id) == key


async def test_keys_are_counted_once_a_second() -> None:
    ring, now = Ring(), [0.0]
    remembered = RememberedKeys(lambda: ring, clock=lambda: now[0])
    assert await remembered.count() == 0
    key = new_key("test", ("ask",)).key
    ring.keys[key.id] = key
    assert await remembered.count() == 0
    now[0] = 1.0
    assert await remembered.count() == 1
