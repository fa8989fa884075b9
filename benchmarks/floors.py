"""Floors of scores in tests: pinned slightly below the measured scores, and lowered only explicitly."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results_files import external_data, table

_MARGIN = 0.002  # processors round differently


def pinned(
    scores: Mapping[str, float], old: Mapping[str, float], *, lower: bool, margin: float
) -> dict[str, float]:
    """Return new floors, `margin` under the scores; exit if one is lower than before without `--lower`."""
    floors = {name: round(math.floor((score - margin) * 1000) / 1000, 3) for name, score in scores.items()}
    sunk = [name for name, floor in old.items() if floor > floors.get(name, 0.0)]
    if sunk and not lower:
        changes = ", ".join(f"{name} {old[name]} → {floors.get(name, 'gone')}" for name in sunk)
        sys.exit(f"These floors would be lower: {changes}. To accept that, give --lower.")
    return floors


def sha256s(data: Path, files: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of each input file."""
    return {name: hashlib.sha256((data / name).read_bytes()).hexdigest() for name in files}


def gate(
    about: str | None,
    measure: str,
    file: Path,
    checksums: Callable[[Path], dict[str, str]],
    measured: Callable[[Path], dict[str, float]],
    margin: float = _MARGIN,
) -> None:
    """Run the command of a gate: print the scores beside the floors in `file`, and pin them on demand.

    `checksums` and `measured` get the folder of data.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pin", action="store_true", help="write the floors")
    parser.add_argument("--lower", action="store_true", help="also write lower floors")
    arguments = parser.parse_args()
    data = external_data()
    stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    old = stored.get("floors", {})
    scores = measured(data)
    print(table([measure, "measured", "floor"], [[n, f"{s:.4f}", old.get(n, "")] for n, s in scores.items()]))
    if arguments.pin:
        floors = pinned(scores, old, lower=arguments.lower, margin=margin)
        kept = {"data": checksums(data), "floors": floors}
        file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"\nWritten to {file}.")
