"""Limits that processes share in a real Redis server, which may be stopped or hang."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import citewell
from citewell.core.errors import SettingsError
from citewell.server.access.limiter import open_limiter

redis = pytest.importorskip("redis.asyncio", reason="the package redis is not installed")

from citewell.server.access.redis_limiter import RedisLimiter  # noqa: E402

if TYPE_CHECKING:
    from conftest import RedisServer

TAKES = 1_000


def clients(server: RedisServer, *arguments: int) -> list[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(Path(citewell.__file__).parents[1])}
    call = [sys.executable, "-u", str(Path(__file__).with_name("taker.py")), server.url, *map(str, arguments)]
    return [
        subprocess.Popen(call, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]


def allowed(processes: list[subprocess.Popen[str]]) -> list[int]:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [int(process.communicate(timeout=60)[0]) for process in processes]


@pytest.mark.parametrize(("per_minute", "daily"), [(300, 0), (0, 300), (300, 299), (299, 300)])
async def test_limits_are_exact_for_two_processes(
    redis_server: RedisServer, per_minute: int, daily: int
) -> None:
    processes = clients(redis_server, TAKES // 2, per_minute, daily)
    both = await asyncio.to_thread(allowed, processes)
    assert sum(both) == min(filter(None, (per_minute, daily)))


async def test_limits_in_the_server(redis_server: RedisServer) -> None:
    async with open_limiter(redis_server.url, pytest.fail) as limiter:
        assert [(await limiter.take("ada", 2, 5)).allowed for _ in range(2)] == [True, True]
        refused = await limiter.take("ada", 2, 5)
        assert (refused.allowed, refused.limit) == (False, 2)
        assert 55 < refused.retry_after <= 60
        assert (await limiter.take("bob", 2, 5)).allowed
        assert (await limiter.take("ada", None, None)).allowed
        for _ in range(3):  # the refused one cost nothing
            assert (await limiter.take("ada", None, 5)).allowed
        spent = await limiter.take("ada", None, 5)
        assert (spent.allowed, spent.limit) == (False, 5)
        assert 0 < spent.retry_after <= 86_400


async def test_nothing_is_kept_for_longer_than_it_counts(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url)
    async with open_limiter(redis_server.url, pytest.fail) as limiter:
        await limiter.take("ada", 3, 5)
    keys = [key.decode() async for key in client.scan_iter()]
    assert len(keys) == 2
    for key in keys:
        assert key.startswith("citewell:limit")
        assert 0 < await client.ttl(key) <= 86_400
    await client.aclose()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
async def test_the_same_limits_hold_in_each_process_while_the_server_is_away(
    end: signal.Signals, redis_server: RedisServer
) -> None:
    told: list[str] = []
    limiter = RedisLimiter(redis_server.url, told.append, rest_seconds=0.2)
    assert (await limiter.take("ada", 5, None)).allowed
    assert await limiter.trouble() == ""
    assert redis_server.process is not None
    redis_server.process.send_signal(end)
    started = time.monotonic()
    decisions = await asyncio.gather(*(limiter.take("ada", 5, None) for _ in range(100)))
    assert time.monotonic() - started < 30  # a hundred time-outs are more
    assert sum(decision.allowed for decision in decisions) == 5
    assert "cannot be used" in await limiter.trouble()
    assert len(told) == 1
    assert "Each process counts for itself" in told[0]

    if end == signal.SIGSTOP:
        redis_server.process.send_signal(signal.SIGCONT)
    else:
        redis_server.stop()
        await redis_server.start()
    async with asyncio.timeout(10):
        while await limiter.trouble():
            await asyncio.sleep(0.02)
    assert len(told) == 2
    assert "again" in told[1]
    assert (await limiter.take("cleo", 1, None)).allowed
    await limiter.close()


@pytest.fixture
def urls(unused_tcp_port: int) -> Callable[[str], str]:
    return lambda password: f"redis://me:{password}@127.0.0.1:{unused_tcp_port}/3?socket_timeout=1"


async def test_no_password_is_shown(urls: Callable[[str], str]) -> None:
    told: list[str] = []
    async with open_limiter(urls("hidden"), told.append) as limiter:
        assert (await limiter.take("ada", 1, None)).allowed
        assert not (await limiter.take("ada", 1, None)).allowed
        trouble = await limiter.trouble()
        assert "hidden" not in trouble + told[0]
        assert "127.0.0.1" in trouble


@pytest.mark.parametrize("url", ["http://127.0.0.1", "127.0.0.1:6379", "redis://127.0.0.1:port"])
async def test_a_url_that_is_not_understood(url: str) -> None:
    with pytest.raises(SettingsError, match="redis_url"):
        async with open_limiter(url, pytest.fail):
            pass
