"""One run: the service with all that it stands on, its clients, and what breaks."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.checks import check_log, check_writes, settle
from benchmarks.chaos.clients import COLLECTION, ChaosClients
from benchmarks.chaos.faults import Faults
from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.memory import MemorySample, check_memory, memory
from benchmarks.chaos.process import ServiceProcess
from benchmarks.chaos.surroundings import surroundings
from benchmarks.chaos.web import ChaosWeb
from benchmarks.hostile.web import WEB
from benchmarks.small_service import environment, index_notes, store_keys
from citewell.server.access.keys import SCOPES, new_key

_KEYS = 6
_SETTLE_SECONDS = 120.0
_FAULT_SECONDS = 20.0
_ORPHAN_SECONDS = 10.0
SERVICE_KILLED = "the service is killed"


@dataclass(frozen=True)
class ChaosPlan:
    """How long, and with which random choices."""

    seconds: float = 1200.0
    seed: int = 0
    faults: tuple[str, ...] = ()
    """The faults by their names; all of them if empty."""


async def run(plan: ChaosPlan) -> dict[str, Any]:
    """Return what was done and found; `problems` is empty if all is as it should be."""
    with tempfile.TemporaryDirectory(prefix="citewell-chaos-", ignore_cleanup_errors=True) as folder:
        web = ChaosWeb(plan.seed)
        await web.open()
        try:
            with surroundings(Path(folder)) as (postgres, redis, disk):
                index_notes(disk.folder / "data", COLLECTION)
                keys = await _keys(postgres.url)
                (disk.folder / "tmp").mkdir()
                variables = _variables(disk.folder, postgres.url, redis.url, web.url)
                service = ServiceProcess(variables, disk.folder)
                try:
                    length = min(_FAULT_SECONDS, plan.seconds / 12)
                    chance = random.Random(plan.seed)
                    faults = Faults(
                        service=service,
                        postgres=postgres,
                        redis=redis,
                        disk=disk,
                        web=web,
                        chance=chance,
                        seconds=length,
                    )
                    return await _break(plan, faults, keys)
                finally:
                    service.kill()
        finally:
            await web.close()


async def _break(plan: ChaosPlan, faults: Faults, keys: list[str]) -> dict[str, Any]:
    service, ledger = faults.service, Ledger()
    with httpx.Client(
        base_url=service.url,
        headers={"Authorization": f"Bearer {keys[0]}"},
        timeout=60,
        trust_env=False,
        limits=httpx.Limits(max_keepalive_connections=0),
    ) as admin:
        await asyncio.to_thread(settle, service, admin, _SETTLE_SECONDS)
        spared = min(service.workers(), key=lambda worker: worker.create_time())
        faults = replace(faults, spared=spared.pid)
        began = time.monotonic()
        clients = ChaosClients(service.url, keys, ledger, plan.seed)
        using = asyncio.create_task(clients.run())
        samples: list[MemorySample] = []
        watching = asyncio.create_task(_watch(service, samples))
        broken = await _alternate(plan, faults, began)
        was_up = spared.is_running()
        if not plan.faults or SERVICE_KILLED in plan.faults:
            print(f"{time.monotonic() - began:7.1f} s: {SERVICE_KILLED}", flush=True)
            await faults.kill_service()
            broken[SERVICE_KILLED] += 1
            await asyncio.sleep(faults.seconds / 2)
        clients.stop()
        await using
        watching.cancel()
        leaked = await asyncio.to_thread(settle, service, admin, _SETTLE_SECONDS)
        writes = await asyncio.to_thread(check_writes, admin, ledger)
    files = [_open_files(process) for process in service.workers()]
    code = await asyncio.to_thread(service.stop)
    orphans = await asyncio.to_thread(service.left, _ORPHAN_SECONDS)
    left = len(list((faults.disk.folder / "tmp").iterdir()))
    used = memory(samples)
    problems = [
        *writes,
        *(f"leaked: {each}" for each in leaked),
        *check_memory(used),
        *check_log(service.lines),
        *(f"an unexplained reply: {each}" for each in ledger.faulty),
        *(f"a process is left: {command}" for command in orphans),
    ]
    if not was_up:
        problems.append("the spared worker has ended")
    if code not in (0, -15):
        problems.append(f"the service ended with {code}")
    return {
        "seconds": round(time.monotonic() - began, 1),
        "seed": plan.seed,
        "faults": dict(broken),
        "acknowledged": ledger.confirmed,
        "replies": dict(sorted(ledger.statuses.items())),
        "examples": ledger.examples,
        "memory": used,
        "open_files": files,
        "left_folders": left,
        "lines_of_log": len(service.lines),
        "problems": problems,
        "log": service.lines,
    }


async def _alternate(plan: ChaosPlan, faults: Faults, began: float) -> Counter[str]:
    """Break one thing after another in random order, with pauses between, until the time is up."""
    known = faults.all()
    names = [name for name in known if not plan.faults or name in plan.faults]
    broken: Counter[str] = Counter()
    while True:
        for name in faults.chance.sample(names, len(names)) or [""]:
            await asyncio.sleep(faults.seconds / 2)
            if time.monotonic() - began > plan.seconds:
                return broken
            if not name:
                continue
            print(f"{time.monotonic() - began:7.1f} s: {name}", flush=True)
            await known[name]()
            broken[name] += 1


async def _watch(service: ServiceProcess, samples: list[MemorySample]) -> None:
    while True:
        await asyncio.sleep(1)
        samples += await asyncio.to_thread(service.memory)


def _open_files(process: Any) -> int:
    return int(process.num_fds())


async def _keys(url: str) -> list[str]:
    made = [new_key(f"client {number}", tuple(SCOPES)) for number in range(_KEYS)]
    await store_keys(url, made)
    return [each.secret for each in made]


def _variables(folder: Path, database: str, redis: str, web: str) -> dict[str, str]:
    """Return the environment of the service."""
    settings = {
        "DATA_DIR": folder / "data",
        "GENERATOR__NAME": "extractive",
        "SEARCH__PROVIDERS": "searxng",
        "SEARCH__SEARXNG_URL": web,
        "SEARCH__COLLECTION": COLLECTION,
        "SEARCH__SECONDS": 3,
        "FETCH__ALLOW_NETWORKS": f"{WEB}/32",
        "FETCH__CACHE": "false",
        "FETCH__DEADLINE": 2,
        "FETCH__ROBOTS": "false",
        "EXTRACT__WORKERS": 1,
        "EXTRACT__SECONDS": 5,
        "THREADS": 1,
        "RETRIEVER__K": 3,
        "SERVER__WORKERS": 2,
        "SERVER__DATABASE_URL": database,
        "SERVER__REDIS_URL": redis,
        "SERVER__RATE_PER_MINUTE": 6000,
        "SERVER__DRAIN_SECONDS": 5,
    }
    return environment(settings) | {"TMPDIR": str(folder / "tmp")}
