"""The cache in a real Redis server, which may be stopped, hang, or hold what others wrote."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.core.errors import SettingsError

redis = pytest.importorskip("redis.asyncio", reason="the package redis is not installed")

from citewell.retriever.fetch.cache.policy import CachePolicy  # noqa: E402
from citewell.retriever.fetch.cache.shared import RedisStore  # noqa: E402
from citewell.retriever.fetch.cache.store import CacheError  # noqa: E402

from .entries import SOON, entry  # noqa: E402

if TYPE_CHECKING:
    from conftest import RedisServer

    from .conftest import Web

ENTRY_BYTES = 5_000_000


async def test_what_one_stores_another_loads(redis_server: RedisServer) -> None:
    first, second = (RedisStore(redis_server.url, ENTRY_BYTES, pytest.fail) for _ in range(2))
    assert await first.load("a") is None
    await first.save("a", entry(body=b"shared"), SOON)
    assert await second.load("a") == entry(body=b"shared")
    await second.remove("a")
    assert await first.load("a") is None
    await first.close()
    await second.close()


async def test_pages_are_shared_by_computers_as_a_shared_cache(
    redis_server: RedisServer, local_web: Web
) -> None:
    policy = CachePolicy(shared=True)
    sources = []
    for directives in ("s-maxage=60", "s-maxage=60", "private, max-age=60"):
        local_web.origin.headers = {"Cache-Control": directives}
        store = RedisStore(redis_server.url, ENTRY_BYTES, pytest.fail)
        async with local_web.open(policy, store) as fetcher:
            sources.append((await fetcher.get(local_web.url)).source)
    assert sources == ["network", "cache", "cache"]
    local_web.clock.ahead = 100
    for _ in range(2):
        store = RedisStore(redis_server.url, ENTRY_BYTES, pytest.fail)
        async with local_web.open(policy, store) as fetcher:
            sources.append((await fetcher.get(local_web.url)).source)
    assert sources[3:] == ["network", "network"]


async def test_entries_leave_when_they_are_of_no_use(redis_server: RedisServer) -> None:
    store = RedisStore(redis_server.url, ENTRY_BYTES, pytest.fail)
    await store.save("over", entry(), time.time() - 1)
    await store.save("soon", entry(), time.time() + 100)
    assert await store.load("over") is None
    client = redis.Redis.from_url(redis_server.url)
    assert 90 <= await client.ttl("citewell:page:soon") <= 100
    await client.aclose()
    await store.close()


async def test_large_and_damaged_entries(redis_server: RedisServer) -> None:
    warnings: list[str] = []
    store = RedisStore(redis_server.url, ENTRY_BYTES, warnings.append)
    await store.save("large", entry(body=random.Random(1).randbytes(2_100_000)), SOON)
    assert await store.load("large") is None
    client = redis.Redis.from_url(redis_server.url)
    await client.set("citewell:page:a", b"cw1 nonsense")
    assert await store.load("a") is None
    assert await client.get("citewell:page:a") is None
    assert len(warnings) == 1
    assert "damaged" in warnings[0]
    await client.aclose()
    await store.close()


async def test_usage_and_clearing_touch_what_is_ours_alone(redis_server: RedisServer) -> None:
    store = RedisStore(redis_server.url, ENTRY_BYTES, pytest.fail)
    client = redis.Redis.from_url(redis_server.url)
    await client.set("theirs", "1")
    for number in range(1_200):
        await store.save(str(number), entry(), SOON)
    usage = await store.usage()
    assert usage.entries == 1_200
    assert usage.bytes > 1_200 * 100
    assert await store.clear() == 1_200
    assert (await store.usage()).entries == 0
    assert await client.get("theirs") == b"1"
    await client.aclose()
    await store.close()


@pytest.mark.alone
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
async def test_pages_are_fetched_without_a_server_that_fails(
    end: signal.Signals, redis_server: RedisServer, local_web: Web
) -> None:
    warnings: list[str] = []
    local_web.origin.headers = {"Cache-Control": "max-age=60"}
    store = RedisStore(redis_server.url, ENTRY_BYTES, warnings.append)
    async with local_web.open(store=store) as fetcher:
        await fetcher.get(local_web.url)
        assert redis_server.process is not None
        redis_server.process.send_signal(end)
        started = time.monotonic()
        for number in range(10):
            assert (await fetcher.get(f"{local_web.url}?{number}")).source == "network"
        assert time.monotonic() - started < 1.0  # were each to wait, it would take longer
    assert len(warnings) == 1
    assert "Pages are fetched anew" in warnings[0]


async def test_a_server_that_is_not_there(tmp_path: Path, local_web: Web) -> None:
    warnings: list[str] = []
    url = f"unix://{tmp_path}/none"
    async with local_web.open(store=RedisStore(url, ENTRY_BYTES, warnings.append)) as fetcher:
        for _ in range(3):
            assert (await fetcher.get(local_web.url)).source == "network"
    assert len(warnings) == 1
    store = RedisStore(url, ENTRY_BYTES, warnings.append)
    with pytest.raises(CacheError, match="cannot be used"):
        await store.usage()
    await store.close()


async def test_no_password_is_shown(unused_tcp_port: int) -> None:
    warnings: list[str] = []
    store = RedisStore(f"redis://me:secret@127.0.0.1:{unused_tcp_port}/3", ENTRY_BYTES, warnings.append)
    assert await store.load("a") is None
    with pytest.raises(CacheError) as failure:
        await store.clear()
    assert "secret" not in warnings[0] + str(failure.value)
    assert f"127.0.0.1:{unused_tcp_port}" in warnings[0]
    await store.close()


@pytest.mark.parametrize("url", ["http://127.0.0.1", "127.0.0.1:6379", "redis://127.0.0.1:port"])
def test_a_url_that_is_not_understood(url: str) -> None:
    with pytest.raises(SettingsError, match="cache_url"):
        RedisStore(url, ENTRY_BYTES, pytest.fail)
