"""Models that are missing, and a Redis that goes away, under a running service."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.weights import locate
from tests.conftest import MINILM
from tests.server.api.conftest import Start, make_key
from tests.server.faults.conftest import answers_again, ask_notes, until

if TYPE_CHECKING:
    from tests.conftest import RedisServer


def test_models_that_are_missing_at_first_are_used_once_they_are_there(start: Start, tmp_path: Path) -> None:
    weights = locate(MINILM).path
    assert weights is not None
    encoder = tmp_path / "encoder"
    service = start(retriever__encoder=str(encoder), retriever__engine="torch")
    assert service.client.get("/ready").json()["parts"]["models"] != "ready"
    assert ask_notes(service.client).json()["type"] == "/problems/not-ready"
    encoder.symlink_to(weights)
    until(lambda: answers_again(service))


def test_limits_hold_while_redis_is_away_and_in_redis_once_it_is_back(
    start: Start, redis_server: RedisServer
) -> None:
    service = start(server__redis_url=redis_server.url, server__rate_per_minute=3)

    def asked(key: dict[str, str]) -> list[int]:
        service.client.headers.update(key)
        return [ask_notes(service.client).status_code for _ in range(5)]

    keys = [make_key(service, "ask") for _ in range(3)]
    assert asked(keys[0]) == [201, 201, 201, 429, 429]
    redis_server.stop()
    ready = service.client.get("/ready")
    assert ready.status_code == 200
    assert "limits" in ready.json()["parts"]
    assert asked(keys[1]) == [201, 201, 201, 429, 429]
    asyncio.run(redis_server.start())
    until(lambda: "limits" not in service.client.get("/ready").json()["parts"])
    assert asked(keys[2]) == [201, 201, 201, 429, 429]
