"""Run `citewell eval`; keep its figures, with command, machine and date, in benchmarks/results/NAME.json.

Run `python -m benchmarks.evaluate NAME eval answers FILE --systems …`: the words after NAME are those of
`citewell`, without `--json`. With `--every N` only every Nth line of FILE is asked. With `--folder FOLDER`
the files of `citewell eval` stay there, so that an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.results_files import output_option, save

_FILE = 2  # the place of FILE in `eval answers FILE`


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--every", metavar="N", type=int, default=1, help="ask only every Nth line of FILE [1]"
    )
    parser.add_argument("--folder", type=Path, help="folder to keep the files of `citewell eval` in")
    output_option(parser)
    parser.add_argument("name", help="name of the result")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="the words of `citewell`")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        words = list(given.words)
        if given.every > 1:
            words[_FILE] = str(thinned(Path(words[_FILE]), given.every, folder))
        out = folder / f"{given.name}.json"
        program = Path(sys.executable).with_name("citewell")
        subprocess.run([program, *words, "--json", out], check=True)
        save(given.name, evaluation(out), given.output)


def thinned(file: Path, every: int, folder: Path) -> Path:
    """Write every Nth line of a file, from the first on, to the folder; return the new file."""
    read = gzip.open if file.suffix == ".gz" else open
    kept = folder / f"every-{every}-{file.name.removesuffix('.gz')}"
    with read(file, "rt", encoding="utf-8") as lines:
        kept.write_text("".join(itertools.islice(lines, 0, None, every)), encoding="utf-8")
    return kept


def evaluation(out: Path) -> dict[str, Any]:
    """Return the figures of each system and their comparisons, from the files of `citewell eval`."""
    details = _read(out.with_name(f"{out.stem}.details.json"))
    return {
        "task": details.get("task") or details.get("file"),
        "notices": list(details.get("notices", ())),
        "systems": _read(out),
        "comparisons": details.get("comparisons", {}),
    }


def _read(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    if data := os.environ.get("CITEWELL_DATA"):
        text = text.replace(data, "$CITEWELL_DATA")
    return json.loads(text)


if __name__ == "__main__":
    main()
