"""Functions that all benchmarks share: the machine's shape, tables, and results as JSON."""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data.catalog import read_catalog

RESULTS = Path(__file__).parent / "results"


def external_data() -> Path:
    """Return the folder that CITEWELL_DATA names; exit the program if data of this benchmark are missing."""
    named = os.environ.get("CITEWELL_DATA")
    folder = Path(named) if named else None
    module = getattr(sys.modules["__main__"].__spec__, "name", "")
    missing = missing_sets(module, folder)
    if folder is None or not folder.is_dir() or missing:
        get = f"python -m benchmarks.data get {' '.join(missing) or 'all'}"
        sys.exit(f"Data are missing: set CITEWELL_DATA to a folder for them, and run `{get}`.")
    return folder


def missing_sets(module: str, folder: Path | None) -> list[str]:
    """Return the names of the data sets that a benchmark needs and a folder, or no folder, does not have."""
    return [
        each.name
        for each in read_catalog().values()
        if module in each.used_by
        and (folder is None or not all((folder / file.path).is_file() for file in each.files))
    ]


def machine() -> str:
    """Return the shape of the machine: its cores, processor, memory and Python."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "CPU")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB, Python {platform.python_version()}"


def peak_megabytes() -> float:
    """Return the peak resident memory of this process so far, in megabytes (Linux).

    `ru_maxrss` would not do: a new process begins with that of its parent.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024, 1)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def read_tables(text: str) -> list[list[dict[str, str]]]:
    """Return each Markdown table as its rows by column."""
    found: list[list[dict[str, str]]] = []
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        header, _, *rows = lines
        found.append([dict(zip(header, row, strict=True)) for row in rows])
    return found


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the 90th percentile, rounded to milliseconds."""
    ordered = sorted(values)
    return {"p50": round(ordered[len(ordered) // 2], 3), "p90": round(ordered[int(len(ordered) * 0.9)], 3)}


def output_option(parser: argparse.ArgumentParser) -> None:
    """Add the option `--output` for `save`."""
    parser.add_argument("--output", type=Path, help="output file of the results, not benchmarks/results")


def save(name: str, result: dict[str, Any], path: Path | None = None) -> None:
    """Write a result with the machine and the date, to `benchmarks/results/NAME.json` by default."""
    path = path or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamped = {"command": command(sys.orig_argv), "machine": machine(), "date": _today()} | result
    path.write_text(json.dumps(stamped, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\n{stamped['machine']}, {stamped['date']}. Written to {path}.")


def command(words: Sequence[str]) -> str:
    """Return the command of a benchmark without the paths of this machine and without `--output`.

    `words` are those of the process: an interpreter, its options, `-m` with the module, and arguments. A file
    below CITEWELL_DATA is named by that variable.
    """
    start = words.index("-m") if "-m" in words else 1
    return " ".join(["python", *(_shown(word) for word in _without_output(words[start:]))])


def _without_output(words: Sequence[str]) -> Iterator[str]:
    for before, word in itertools.pairwise(["", *words]):
        if "--output" not in (before, word):
            yield word


def _shown(word: str) -> str:
    if "/" not in word:
        return shlex.quote(word)
    return ",".join(_without_folder(part) for part in word.split(","))


def _without_folder(part: str) -> str:
    data = os.environ.get("CITEWELL_DATA")
    if data and Path(part).is_relative_to(data):
        return f"$CITEWELL_DATA/{Path(part).relative_to(data).as_posix()}"
    return "PATH" if "/" in part else part


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()
