"""Attack the fetcher and the extraction with hostile servers and documents.

`python -m benchmarks.hostile` attacks with spellings of private addresses, directly, by redirects and by a
name server that changes its answer; with compression bombs; with servers that are slow, endless or lie; with
documents that trouble parsers; and with randomly mutated real pages (seeded; they need CITEWELL_DATA). Every
attack must end in a page or in a reason, in time and in bounded memory, and no connection may reach a private
address: otherwise the program exits with 1. It needs Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

from benchmarks.hostile_pages import handmade, mutated, seeds
from benchmarks.hostile_web import BOMBS, WEB, attacks, redirect_path
from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.errors import ExtractionError, FetchError
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher

SPELLINGS = (
    *(
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "0",
    ),
    *(
        "0.0.0.0",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "１２７.１",
        "127.0.0.1.",
        "0x7F.0.0.0x1",
        "localhost",
        "localhost.",
    ),
    *(
        "LOCALHOST",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
    ),
    *("[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[fe80::5efe:7f00:1]", "[::1%25lo]"),
    *(
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "168.63.129.16",
    ),
    *(
        "0xa9fea9fe",
        "[::ffff:169.254.169.254]",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[fec0::1]",
        "[ff02::1]",
    ),
)
LIMITS = FetchLimits(connect_seconds=2, header_seconds=2, silence_seconds=2, total_seconds=3)
READING = SandboxLimits(workers=2, seconds=3.0, memory_bytes=400_000_000)
_SLACK_SECONDS = 1.5  # above a limit, on a machine that is busy
_PARENT_MEGABYTES = 100  # by which this process may grow
_WORKER_MEGABYTES = READING.memory_bytes / 1e6 + 60  # the limit counts from a bare Python


@dataclass
class AttackResult:
    """The outcome of one group of attacks. Megabytes are resident memory, per worker."""

    attacks: int = 0
    pages: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown_megabytes: float = 0.0
    worker_megabytes: float = 0.0

    async def run(self, name: str, attempt: Callable[[], Awaitable[object]], seconds: float) -> None:
        """Record how an attack ends; anything but a page or a reason, and being late, is a fault."""
        started = time.perf_counter()
        self.attacks += 1
        try:
            await attempt()
            self.pages += 1
        except (FetchError, ExtractionError) as error:
            self.reasons[error.message] += 1
        except Exception as error:  # noqa: BLE001 - which is what this program looks for
            self.faults.append(f"{name}: {type(error).__name__}: {error}")
        spent = time.perf_counter() - started
        self.slowest = max(self.slowest, spent)
        if spent > seconds + _SLACK_SECONDS:
            self.faults.append(f"{name}: it took {spent:.1f} s")


class Rebinding(AbstractResolver):
    """A name server that first returns the public web, and a private address from then on."""

    def __init__(self, then: str) -> None:
        self._then = then
        self._asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the answers in turn."""
        self._asked += 1
        address = WEB if self._asked == 1 else self._then
        found = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=found, proto=0, flags=socket.AI_NUMERICHOST
            )
        ]

    async def close(self) -> None:
        """Do nothing."""


class HostileWeb(NamedTuple):
    """The ports of `benchmarks.hostile_web`."""

    port: int
    private_port: int

    @property
    def base(self) -> str:
        """The address of the web."""
        return f"http://{WEB}:{self.port}"


@contextmanager
def hostile_web(mebibytes: int) -> Iterator[HostileWeb]:
    """Run the hostile web in a separate process; its bombs expand to this many MiB."""
    command = [sys.executable, "-m", "benchmarks.hostile_web", str(mebibytes)]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout
        try:
            yield HostileWeb(*map(int, process.stdout.readline().split()))
        finally:
            process.kill()


@asynccontextmanager
async def fetcher_of(web: HostileWeb, resolver: AbstractResolver | None = None) -> AsyncIterator[HttpFetcher]:
    """Open a fetcher that takes `WEB` for the public web; its guard is the usual one for other addresses."""
    guard = AddressGuard(
        allow_networks=(ip_network(f"{WEB}/32"),), allow_ports=frozenset({web.port, web.private_port})
    )
    async with web_fetcher(LIMITS, guard, robots=False, resolver=resolver) as fetcher:
        yield fetcher


async def addresses(web: HostileWeb) -> dict[str, AttackResult]:
    """Try every spelling in every way; a page here would be the secret."""
    ways = {
        "address": AttackResult(),
        "address by a redirect": AttackResult(),
        "address by DNS rebinding": AttackResult(),
    }
    direct, redirected, rebound = ways.values()
    async with fetcher_of(web) as fetcher:
        for host in SPELLINGS:
            target = f"http://{host}:{web.private_port}/"
            await direct.run(host, partial(fetcher.get, target), LIMITS.total_seconds)
            start = web.base + redirect_path(target)
            await redirected.run(host, partial(fetcher.get, start), LIMITS.total_seconds)
    for host in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"):
        async with fetcher_of(web, Rebinding(host)) as fetcher:
            # Its redirect to another port makes the fetcher look the name up once more.
            there = redirect_path(f"http://kites.example:{web.private_port}/")
            start = f"http://kites.example:{web.port}{there}"
            await rebound.run(host, partial(fetcher.get, start), LIMITS.total_seconds)
    async with fetcher_of(web) as fetcher:
        told = (await fetcher.get(f"{web.base}/connections")).body.decode()
    for name, outcome in ways.items():
        if outcome.pages or told != "0 connections":
            outcome.faults.append(f"{name}: {outcome.pages} pages, {told} to the private service")
    return ways


async def servers(web: HostileWeb, mebibytes: int) -> dict[str, AttackResult]:
    """Fetch from every hostile server, all bombs at once and then all others."""
    groups = {f"bomb of {mebibytes:,} MiB": AttackResult(), "server": AttackResult()}
    async with fetcher_of(web) as fetcher:
        for outcome, paths in zip(groups.values(), (BOMBS, attacks(mebibytes).keys() - BOMBS), strict=True):
            with _watched(outcome):
                await asyncio.gather(
                    *(outcome.run(p, partial(fetcher.get, web.base + p), LIMITS.total_seconds) for p in paths)
                )
    return groups


async def documents(bodies: dict[str, bytes]) -> AttackResult:
    """Read documents in the sandbox, two at a time, as it does."""
    outcome = AttackResult()
    turns = asyncio.Semaphore(READING.workers)
    async with Sandbox(READING) as sandbox:

        async def read(name: str, body: bytes) -> None:
            url = f"https://kites.example/{name.split(',')[0]}.{_suffix(name)}"
            async with turns:
                await outcome.run(name, lambda: sandbox.extract(body, url), READING.seconds)

        with _watched(outcome):
            await asyncio.gather(*(read(name, body) for name, body in bodies.items()))
    return outcome


def _suffix(name: str) -> str:
    return {"JSON": "json", "Markdown": "md"}.get(name.split(",")[0], "html")


@contextmanager
def _watched(outcome: AttackResult) -> Iterator[None]:
    """Record the peak memory that this process gains and that a child of it has, twenty times per second."""
    before = _megabytes("self")
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            outcome.grown_megabytes = max(outcome.grown_megabytes, _megabytes("self") - before)
            for pid in _workers():
                outcome.worker_megabytes = max(outcome.worker_megabytes, _megabytes(pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _workers() -> Iterator[str]:
    for children in Path("/proc/self/task").glob("*/children"):
        for pid in children.read_text().split():
            try:
                if b"citewell.retriever.extract.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    yield pid
            except OSError:
                continue  # it has just ended


def _megabytes(pid: str) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * 4096 / 1e6


async def run(mebibytes: int, pages: int, seed: int, data: Path | None) -> dict[str, AttackResult]:
    """Run all attacks; pages are mutated only if there is a folder of evaluation data."""
    with hostile_web(mebibytes) as web:
        outcomes = await addresses(web) | await servers(web, mebibytes)
    outcomes["document"] = await documents(handmade())
    if data:
        bodies = {f"mutation {n}": body for n, body in enumerate(mutated(seeds(data), pages, seed))}
        outcomes["mutated page"] = await documents(bodies)
    for name, outcome in outcomes.items():
        if outcome.grown_megabytes > _PARENT_MEGABYTES:
            outcome.faults.append(f"{name}: this process grew by {outcome.grown_megabytes:.0f} MB")
        if outcome.worker_megabytes > _WORKER_MEGABYTES:
            outcome.faults.append(f"{name}: a worker took {outcome.worker_megabytes:.0f} MB")
    return outcomes


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--mebibytes", type=int, default=1024, help="expanded size of a compression bomb in MiB"
    )
    parser.add_argument("--pages", type=int, default=2000, help="number of mutated pages")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutations")
    output_option(parser)
    arguments = parser.parse_args()
    outcomes = asyncio.run(run(arguments.mebibytes, arguments.pages, arguments.seed, external_data()))
    header = ["attack", "tried", "a page", "a reason", "faults", "slowest, s", "grown by, MB", "worker, MB"]
    print(table(header, [_row(name, outcome) for name, outcome in outcomes.items()]))
    save(
        "hostile",
        {"attacks": {name: _result(outcome) for name, outcome in outcomes.items()}},
        arguments.output,
    )
    faults = [fault for outcome in outcomes.values() for fault in outcome.faults]
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


def _row(name: str, outcome: AttackResult) -> list[object]:
    reasons = sum(outcome.reasons.values())
    numbers = (f"{outcome.slowest:.1f}", f"{outcome.grown_megabytes:.0f}", f"{outcome.worker_megabytes:.0f}")
    return [name, outcome.attacks, outcome.pages, reasons, len(outcome.faults), *numbers]


def _result(outcome: AttackResult) -> dict[str, Any]:
    result = asdict(outcome)
    result["reasons"] = dict(outcome.reasons.most_common(40))
    for key in ("slowest", "grown_megabytes", "worker_megabytes"):
        result[key] = round(result[key], 2)
    return result


if __name__ == "__main__":
    main()
