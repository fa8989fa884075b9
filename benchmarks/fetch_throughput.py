"""Measure pages fetched and extracted per second, the memory for it, and the lag of the event loop.

A server in a separate process answers with real pages, gzipped, half a second after each request, so that
every concurrent request has an open connection; the first ones begin within half a second. Its pages appear
to come from many hosts, since politeness allows few simultaneous requests per host. Memory is that of the
fetching process and of the extracting processes, without any model. The cache of web pages is measured with
ten pages, a typical question, that are fetched twice.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from ipaddress import ip_network
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.loopback import Loopback
from benchmarks.page_server import PageServer
from benchmarks.results_files import output_option, quantiles, save, table
from citewell.core.errors import CitewellError
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits
from citewell.retriever.fetch.cache.disk import DiskStore
from citewell.retriever.fetch.cache.policy import CachePolicy
from citewell.retriever.fetch.cache.transport import CachingTransport
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.memory_budget import Lease, MemoryBudget
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.fetch.transport import Transport

DELAY = 0.5  # seconds, of the server
OF_ONE_HOST = 4  # requests under way
QUESTION_PAGES = 10
MOST_SECONDS = 60.0  # of one page: a thousand share the machine, and wait for those that read them
_TICK = 0.005
_SAMPLE_SECONDS = 0.05


class FetchTurn(NamedTuple):
    """The delay of the wake-up of a task that slept for 5 ms, in seconds.

    `late` is the delay after the due time, and `busy` is the CPU time of the event loop's thread during the
    sleep: on a machine with other work, the first is longer than the second.
    """

    late: float
    busy: float


@dataclass
class Round:
    """The measurements while pages were fetched."""

    in_flight: int
    extracts: bool
    seconds: float = 0.0
    fetched: int = 0
    extracted: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    turns: list[FetchTurn] = field(default_factory=list)
    peak_bytes: int = 0

    def fail(self, error: CitewellError) -> None:
        """Count a failure by its reason."""
        self.failures[error.message] = self.failures.get(error.message, 0) + 1

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of a result."""
        late, busy = (sorted(column) for column in zip(*self.turns, strict=True))
        return {
            "in_flight": self.in_flight,
            "seconds": round(self.seconds, 2),
            "fetched": self.fetched,
            "extracted": self.extracted,
            "failures": self.failures,
            "pages_per_second": round((self.extracted if self.extracts else self.fetched) / self.seconds, 1),
            "peak_megabytes": round(self.peak_bytes / 1e6, 1),
            "lag_p99_ms": round(1000 * late[int(len(late) * 0.99)], 1),
            "lag_max_ms": round(1000 * late[-1], 1),
            "busy_p99_ms": round(1000 * busy[int(len(busy) * 0.99)], 1),
            "busy_max_ms": round(1000 * busy[-1], 1),
        }


async def measure(server: PageServer, urls: list[str], in_flight: int, sandbox: Sandbox | None) -> Round:
    """Fetch `urls` with this many concurrent requests, and extract them in `sandbox` if it is given."""
    result = Round(in_flight, extracts=sandbox is not None)
    waiting = iter(urls)
    budget = MemoryBudget()

    async def work(fetcher: HttpFetcher, begin: float) -> None:
        await asyncio.sleep(begin)
        for url in waiting:
            try:
                with Lease(budget) as lease:
                    download = await fetcher.fetch(PageRequest(url, lease))
                    result.fetched += 1
                    if sandbox:
                        await sandbox.extract(download.body, download.url, download.content_type)
                        result.extracted += 1
                    del download
            except CitewellError as error:
                result.fail(error)

    async with opened(in_flight) as fetcher, lag(result.turns):
        with memory(result, server):
            started = time.perf_counter()
            begins = (server.delay * number / in_flight for number in range(in_flight))
            await asyncio.gather(*(work(fetcher, begin) for begin in begins))
            result.seconds = time.perf_counter() - started
    return result


@asynccontextmanager
async def opened(connections: int, cache: Path | None = None) -> AsyncIterator[HttpFetcher]:
    """Open a fetcher for this machine alone, with a cache in the folder `cache` if it is given."""

    def cached(transport: Transport) -> AbstractAsyncContextManager[Transport]:
        if cache is None:
            return nullcontext(transport)
        store = DiskStore(cache, 500_000_000, 5_000_000, warn=print)
        return CachingTransport(transport, store, CachePolicy())

    async with web_fetcher(
        FetchLimits(connections=connections, total_seconds=MOST_SECONDS, connect_seconds=MOST_SECONDS),
        AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),)),
        resolver=Loopback(),
        robots=False,
        cache=cached,
    ) as fetcher:
        yield fetcher


@asynccontextmanager
async def lag(turns: list[FetchTurn]) -> AsyncIterator[None]:
    """Record the wake-ups of a sleeping task."""

    async def tick() -> None:
        while True:
            due, used = time.perf_counter() + _TICK, time.thread_time()
            await asyncio.sleep(_TICK)
            turns.append(FetchTurn(time.perf_counter() - due, time.thread_time() - used))

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()


@contextmanager
def memory(result: Round, server: PageServer) -> Iterator[None]:
    """Record the peak memory of this process and its children, except the server."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_SAMPLE_SECONDS):
            total = sum(_resident(pid) for pid in _family(os.getpid()) if pid != server.process.pid)
            result.peak_bytes = max(result.peak_bytes, total)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _family(pid: int) -> list[int]:
    """Return a process and its descendants (Linux)."""
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in _read(task).split()
    ]
    return [pid, *(member for child in children for member in _family(child))]


def _resident(pid: int) -> int:
    """Return the bytes of a process in memory; shared pages count in part (PSS, Linux)."""
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # the process has ended


class Twice(NamedTuple):
    """Seconds to fetch the pages of one question, without and with a cache that has them."""

    cold: float
    warm: float


async def question_twice(urls: list[str], cache: Path) -> Twice:
    """Fetch the pages of a question all at once, and again as another process would."""
    seconds = []
    for expected in ("network", "cache"):
        async with opened(len(urls), cache) as fetcher:
            started = time.perf_counter()
            pages = await asyncio.gather(*(fetcher.get(url) for url in urls))
            seconds.append(time.perf_counter() - started)
            assert {page.source for page in pages} == {expected}
    return Twice(*seconds)


def urls_of(server: PageServer, number: int, hosts: int) -> list[str]:
    """Return this many URLs of pages, repeated, on this many hosts."""
    paths = islice(cycle(server.paths), number)
    return [f"http://site-{n % hosts}.test:{server.port}{path}?{n}" for n, path in enumerate(paths)]


async def run(pages: int, questions: int, server: PageServer, sizes: tuple[int, int]) -> dict[str, Any]:
    """Measure everything; `sizes` are the numbers of concurrent requests, many and usual."""
    many, usual = sizes
    load = os.getloadavg()[0]  # what else the machine did
    rounds: dict[str, Any] = {}
    for name, in_flight, extracts in (
        ("fetched", many, False),
        ("fetched and extracted", many, True),
        ("fetched and extracted, usual load", usual, True),
    ):
        urls = urls_of(server, pages, max(1, in_flight // OF_ONE_HOST))
        async with Sandbox(SandboxLimits(workers=os.cpu_count() or 1)) as sandbox:
            if extracts:
                await asyncio.gather(*(_first_page(sandbox) for _ in range(os.cpu_count() or 1)))
            rounds[name] = (await measure(server, urls, in_flight, sandbox if extracts else None)).to_json()
        print(f"{name}: {rounds[name]}", flush=True)
    every = urls_of(server, questions * QUESTION_PAGES, QUESTION_PAGES)
    twice = []
    for number in range(questions):
        with tempfile.TemporaryDirectory() as folder:
            chosen = every[number * QUESTION_PAGES : (number + 1) * QUESTION_PAGES]
            twice.append(await question_twice(chosen, Path(folder)))
    return {
        "pages": pages,
        "server_delay_s": server.delay,
        "load_before": round(load, 2),
        "mean_page_bytes": round(server.mean_bytes),
        "rounds": rounds,
        "question_cold_s": quantiles([both.cold for both in twice]),
        "question_warm_s": quantiles([both.warm for both in twice]),
    }


async def _first_page(sandbox: Sandbox) -> None:
    """Start a worker process before the measurement."""
    await sandbox.extract(b"<p>" + b"This sentence is read before the others are. " * 9, "", "text/html")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4_000, help="pages fetched in each round")
    parser.add_argument("--questions", type=int, default=20)
    output_option(parser)
    options = parser.parse_args()
    with PageServer(DELAY, 2_000) as server:
        result = asyncio.run(run(options.pages, options.questions, server, (1_000, 200)))
    columns = ("in_flight", "pages_per_second", "peak_megabytes", "lag_p99_ms", "lag_max_ms", "busy_max_ms")
    rows = [[name, *(numbers[key] for key in columns)] for name, numbers in result["rounds"].items()]
    print(
        table(
            ("round", "in flight", "pages/s", "peak MB", "lag p99, ms", "lag max, ms", "busy max, ms"), rows
        )
    )
    print(f"\nTen pages of a question, p50: {result['question_cold_s']['p50']} s without the cache,")
    print(f"{result['question_warm_s']['p50']} s with it.")
    save("fetch_throughput", result, options.output)


if __name__ == "__main__":
    main()
