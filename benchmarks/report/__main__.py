"""Write docs/results.md, its picture and benchmarks/results/results.json from the files of results.

Run `python -m benchmarks.report`. With `--check` nothing is written; the command fails if a file is not what
the results give.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report.page import files

ROOT = Path(__file__).parents[2]


def main(words: Sequence[str] | None = None, root: Path = ROOT) -> None:
    """Write or check the files below `root`; exit with a message if one is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is stale")
    check = parser.parse_args(words).check
    made = files(root / "benchmarks" / "results")
    stale = [name for name, text in made.items() if _read(root / name) != text]
    if check and stale:
        sys.exit(f"Stale: {', '.join(stale)}. Run `python -m benchmarks.report`.")
    for name in stale:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(made[name], encoding="utf-8")
    print("\n".join(f"Written: {name}" for name in stale) or "Every file is what the results give.")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


if __name__ == "__main__":
    main()
