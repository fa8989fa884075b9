"""Attack the fetcher and the extraction with hostile servers and documents.

`python -m benchmarks.hostile.pages` attacks with compression bombs; with servers that are slow, endless or
lie; with documents that trouble parsers; and with randomly mutated real pages (seeded; they need
CITEWELL_DATA). Every attack must end in a page or in a reason, in time and in bounded memory: otherwise the
program exits with 1. It needs Linux.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.hostile.documents import handmade, mutated, seeds
from benchmarks.hostile.outcome import AttackResult, tally_of
from benchmarks.hostile.private import LIMITS, HostileWeb, fetcher_of, hostile_web
from benchmarks.hostile.tally import attack_parser, end
from benchmarks.hostile.web import BOMBS, attacks
from benchmarks.results_files import external_data, table
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits

READING = SandboxLimits(workers=2, seconds=3.0, memory_bytes=400_000_000)
_PARENT_MEGABYTES = 100  # by which this process may grow
_WORKER_MEGABYTES = READING.memory_bytes / 1e6 + 60  # the limit counts from a bare Python
_QUICK = ("100,000 nested tags", "NULs", "invalid UTF-8", "lone surrogates", "PDF, spaces", "PDF, pages")


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
        outcomes = await servers(web, mebibytes)
    outcomes["document"] = await documents(handmade())
    if data:
        bodies = {f"mutation {n}": body for n, body in enumerate(mutated(seeds(data), pages, seed))}
        outcomes["mutated page"] = await documents(bodies)
    return checked(outcomes)


async def run_small() -> dict[str, AttackResult]:
    """Run a part of them, with bombs of 64 MiB."""
    with hostile_web(mebibytes=64) as web:
        outcomes = await servers(web, mebibytes=64)
    quick = {name: body for name, body in handmade(megabytes=500).items() if name.startswith(_QUICK)}
    return checked(outcomes | {"document": await documents(quick)})


def checked(outcomes: dict[str, AttackResult]) -> dict[str, AttackResult]:
    """Add the faults of processes that have grown too large."""
    for name, outcome in outcomes.items():
        if outcome.grown_megabytes > _PARENT_MEGABYTES:
            outcome.faults.append(f"{name}: this process grew by {outcome.grown_megabytes:.0f} MB")
        if outcome.worker_megabytes > _WORKER_MEGABYTES:
            outcome.faults.append(f"{name}: a worker took {outcome.worker_megabytes:.0f} MB")
    return outcomes


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = attack_parser(__doc__)
    parser.add_argument(
        "--mebibytes", type=int, default=1024, help="expanded size of a compression bomb in MiB"
    )
    parser.add_argument("--pages", type=int, default=2000, help="number of mutated pages")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutations")
    options = parser.parse_args(words)
    if options.small:
        outcomes = asyncio.run(run_small())
    else:
        outcomes = asyncio.run(run(options.mebibytes, options.pages, options.seed, external_data()))
    header = ["attack", "a page", "a reason", "slowest, s", "grown by, MB", "worker, MB"]
    print(table(header, [_row(name, outcome) for name, outcome in outcomes.items()]), end="\n\n")
    groups = {name: outcome.to_json() for name, outcome in outcomes.items()}
    end("pages", tally_of(outcomes), options, attacks=groups)


def _row(name: str, outcome: AttackResult) -> list[object]:
    reasons = sum(outcome.reasons.values())
    numbers = (f"{outcome.slowest:.1f}", f"{outcome.grown_megabytes:.0f}", f"{outcome.worker_megabytes:.0f}")
    return [name, outcome.pages, reasons, *numbers]


if __name__ == "__main__":
    main()
