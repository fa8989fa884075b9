"""Comparison of two TREC runs, or of two evaluations of any kind, in files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from citewell.core.errors import InputError
from citewell.core.significance import PairedComparison, compare, corrected, differences_table
from citewell.retriever.evaluation.measures import Values, measure
from citewell.retriever.evaluation.report import details_file
from citewell.retriever.evaluation.trec import read_qrels, read_run

QRELS = "qrels.txt"
"""The files of judgments next to runs."""


@dataclass(frozen=True)
class SystemDifferences:
    """The differences of B to A in each measure, by system; for two runs, the system is `B - A`."""

    means: Mapping[str, Mapping[str, tuple[float, float]]]
    comparisons: Mapping[str, Mapping[str, PairedComparison]]

    def to_json(self) -> dict[str, Any]:
        """Return {system: {measure: {a, b, difference, low, high, p, …}}}, of plain values."""
        return {
            system: {
                name: {"a": pair[0], "b": pair[1]} | asdict(self.comparisons[name][system])
                for name, pair in values.items()
            }
            for system, values in self.means.items()
        }

    def table(self) -> str:
        """Format the differences as a Markdown table."""
        return differences_table(self.comparisons)


def compare_files(first: Path, second: Path, qrels: Path | None, relevant: int) -> SystemDifferences:
    """Compare `second` with `first`: two TREC runs, or two evaluations in JSON with their details files.

    Evaluations are those of every `citewell eval`; the systems of `adoption` are its judges. A measure that
    some questions lack, such as the loss of an empty answer, is compared over the others. Raises
    `InputError` for files of other kinds, runs of other queries, missing judgments, values that are not
    finite numbers, and evaluations without a common system, a common measure or the same questions.
    """
    kinds = {file.suffix == ".json" for file in (first, second)}
    if len(kinds) == 2:
        raise InputError(
            f"{first} and {second} are of two kinds.", "Give two TREC runs, or two evaluations (.json)."
        )
    pairs = _evaluations(first, second) if kinds == {True} else _runs(first, second, qrels, relevant)
    found: dict[str, dict[str, PairedComparison]] = {}
    both: dict[str, dict[str, tuple[float, float]]] = {}
    for system, (old, new) in pairs.items():
        for name in (name for name in old if name in new):
            common = old[name].keys() & new[name].keys()
            before, after = ({q: v for q, v in of[name].items() if q in common} for of in (old, new))
            found.setdefault(name, {})[system] = compare(after, before)
            both.setdefault(system, {})[name] = (mean(before.values()), mean(after.values()))
    return SystemDifferences(both, {name: corrected(systems) for name, systems in found.items()})


def _runs(first: Path, second: Path, qrels: Path | None, relevant: int) -> dict[str, tuple[Values, Values]]:
    file = qrels or first.parent / QRELS
    if not file.exists():
        raise InputError(f"There are no judgments {file}.", "Name them with --qrels FILE.")
    judged = read_qrels(file)
    values = []
    for run in (first, second):
        found = read_run(run)
        if not judged.keys() & found.keys():
            raise InputError(f"{run} has none of the queries of {file}.", "Is it a run of other queries?")
        values.append(measure(judged, found, relevant))
    return {f"{_stem(second)} - {_stem(first)}": (values[0], values[1])}


def _evaluations(first: Path, second: Path) -> dict[str, tuple[Values, Values]]:
    old, new = _systems(first), _systems(second)
    if len(old) == len(new) == 1:
        (a, before), (b, after) = *old.items(), *new.items()
        pairs = {a if a == b else f"{b} - {a}": (before, after)}
    else:
        pairs = {name: (old[name], new[name]) for name in old if name in new}
    if not pairs:
        raise InputError(
            f"{first} and {second} have no system in common.",
            f"They have {', '.join(old)} and {', '.join(new)}.",
        )
    for before, after in pairs.values():
        asked = [{question for of in values.values() for question in of} for values in (before, after)]
        measures = before.keys() & after.keys()
        if asked[0] != asked[1] or not all(before[name].keys() & after[name].keys() for name in measures):
            raise InputError(f"{first} and {second} are not of the same questions.")
        if not measures:
            raise InputError(f"{first} and {second} have no measure in common.")
    return pairs


def _systems(file: Path) -> dict[str, Values]:
    kept = file if file.name.endswith(".details.json") else details_file(file)
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
        if "systems" in found:
            systems = {name: system["values"] for name, system in found["systems"].items()}
        else:
            systems = {name: dict(_measures(values)) for name, values in found["values"].items()}
        _check_numbers(kept, systems)
        return systems
    except OSError as error:
        raise InputError(
            f"{kept}, which holds the value of each question, cannot be read: {error.strerror}.",
            "`citewell eval` writes it beside the file of --json.",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{kept} is not an evaluation.", "`citewell eval` writes one beside the file of --json."
        ) from error


def _measures(values: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield the values of each measure; those of judges are one level deeper, and get the judge's name."""
    for name, inside in values.items():
        if any(isinstance(value, Mapping) for value in inside.values()):
            yield from ((f"{measure} ({name})", of) for measure, of in inside.items())
        else:
            yield name, inside


def _check_numbers(file: Path, systems: Mapping[str, Values]) -> None:
    for system, values in systems.items():
        for name, of in values.items():
            for question, value in of.items():
                if not (isinstance(value, int | float) and abs(value) <= sys.float_info.max):
                    raise InputError(
                        f"{file}: the {name} of {system} for question {question[:60]!r} is "
                        f"{json.dumps(value)[:60]}, which is not a finite number.",
                        "Evaluate again. A measure may also leave out a question.",
                    )


def _stem(file: Path) -> str:
    return file.name.removesuffix(".gz").rsplit(".", 1)[0]
