"""The public data sets of the benchmarks: list them, get them from their origins, and verify them.

`python -m benchmarks.data list` shows each set with its license; `get NAME…` or `get all` downloads,
converts and verifies; `verify` compares files with their known sums. Sets with terms need `--accept`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.data.catalog import CATALOG, DataSet, known_sets, read_catalog
from benchmarks.data.getting import OnBytes, get, problems
from benchmarks.results_files import table
from citewell.cli.download_view import download_progress
from citewell.core.errors import CitewellError, InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.data", description=__doc__)
    parser.add_argument("--catalog", type=Path, default=CATALOG, help="another file of data sets")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="show the data sets, their licenses and what uses them")
    for name, about in (("get", "download, convert and verify"), ("verify", "compare files with known sums")):
        action = actions.add_parser(name, help=about)
        action.add_argument("names", nargs="+", metavar="NAME", help="a data set, or all")
        action.add_argument("--to", type=Path, help="folder of the data [that which CITEWELL_DATA names]")
        if name == "get":
            action.add_argument("--accept", action="store_true", help="agree to the terms that are shown")
    options = parser.parse_args(arguments)
    try:
        sets = read_catalog(options.catalog)
        if options.action == "list":
            print(_listed(sets))
            return 0
        asked, folder = known_sets(options.names, sets), _folder(options.to)
        if options.action == "verify":
            return _verify(asked, folder)
        return _get(asked, folder, accepted=options.accept)
    except CitewellError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _folder(named: Path | None) -> Path:
    folder = named or (Path(value) if (value := os.environ.get("CITEWELL_DATA")) else None)
    if folder is None:
        raise InputError("No folder for the data is named.", "Set CITEWELL_DATA to it, or give --to FOLDER.")
    return folder


def _listed(sets: Mapping[str, DataSet]) -> str:
    rows = [
        [
            each.name,
            f"{sum(file.rows for file in each.files):,}",
            each.license,
            each.origin,
            "by hand" if not each.converter else "with --accept" if each.consent else "yes",
            "yes" if each.tried else "no",
            each.compared or each.by_hand,
        ]
        for each in sets.values()
    ]
    return table(
        ["data set", "rows", "license", "origin", "get", "download tried", "compared, or why by hand"], rows
    )


def _verify(sets: Sequence[DataSet], folder: Path) -> int:
    good = True
    for each in sets:
        wrong = problems(folder, each)
        good = good and not wrong
        found = "; ".join(f"{path}: {text}" for path, text in wrong.items())
        print(f"{each.name}: {found or 'verified'}")
    return 0 if good else 1


def _get(sets: Sequence[DataSet], folder: Path, *, accepted: bool) -> int:
    failed = []
    for each in sets:
        print(f"{each.name}: {each.license}; {each.origin}", flush=True)
        if problems(folder, each) and each.converter and each.consent and not (accepted or _agreed(each)):
            failed.append(each.name)
            print(f"{each.name}: not fetched. {each.consent} To agree, give --accept.", file=sys.stderr)
            continue
        try:
            with ExitStack() as shown:
                new = get(each, folder, _progress(each.name, shown))
        except CitewellError as error:
            failed.append(each.name)
            print(f"{each.name}: {error}", file=sys.stderr)
            continue
        print(f"{each.name}: " + ("fetched and verified" if new else "there already, and verified"))
    if failed:
        print(
            f"Not complete: {len(failed)} of {len(sets)} are missing: {', '.join(failed)}.", file=sys.stderr
        )
    return 1 if failed else 0


def _agreed(data_set: DataSet) -> bool:
    if not sys.stdin.isatty():
        return False
    return input(f"{data_set.consent} Do you agree (yes or no)? ").strip().lower() in ("y", "yes")


def _progress(name: str, shown: ExitStack) -> Callable[[str], OnBytes]:
    def begin(path: str) -> OnBytes:
        shown.pop_all().close()
        return shown.enter_context(download_progress(f"{name}: {path}"))

    return begin


if __name__ == "__main__":
    sys.exit(main())
