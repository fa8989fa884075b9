"""Measure how often references bear the answer of a question, in any collection.

`python -m benchmarks.answer_bearing` asks the questions of `benchmarks.answer_questions` in Wikipedia for
Schools, which it indexes in `--data-dir` unless the folder has the collection already (use another folder
after a change of the extraction). For another collection, name it and its questions. It prints per system:

- `NAME @k`: the share of questions with an accepted answer in one of the first k references (@20 for the
  largest set only);
- `definitions @k`: the share of "What is X?" whose first k references hold the lead's first sentence;
- `fragments`: the share of references under 12 words, among the first five and among the first;
- `refused`: the share of questions that the pipeline calls without evidence; their references count above;
- seconds per question for five references, and the peak memory of a process with this system alone.

Figures have bootstrapped 95% intervals; differences from the baseline are tested in pairs (randomization,
Holm). The first five references are asked for as five, as users do, and the twenty separately. A third of the
questions, `--split held`, is held out from every choice.

`--details FILE` keeps the value of each question. A run with the same file asks only what is not in it yet,
so a long run can be interrupted; begin a new file after a change of the code. `--against FILE` compares each
system with itself in the details of an earlier run.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.answer_details import Details, Measured, read_systems
from benchmarks.answer_questions import BearingQuestion, of_split, read_questions, wikipedia_questions
from benchmarks.answer_systems import SYSTEMS, Ask, find_system
from benchmarks.ask_wikispeedia import COLLECTION, build_index
from benchmarks.results_files import output_option, quantiles, save, table
from citewell.core.settings import Settings, load_settings
from citewell.core.significance import (
    PairedComparison,
    compare,
    compare_all,
    corrected,
    differences_table,
    interval,
)
from citewell.core.text import words
from citewell.core.types import Reference
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog

FIVE, TWENTY = 5, 20
FRAGMENT = 12
_EVERY = 20  # questions between two lines of progress


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--split", choices=("dev", "held"), default="dev")
    parser.add_argument(
        "--systems",
        default=",".join(SYSTEMS),
        help="comma-separated, also cross-encoder:MODEL; the first is the baseline",
    )
    parser.add_argument("--limit", type=int, help="maximum questions per set")
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--collection", default=COLLECTION)
    parser.add_argument(
        "--questions", type=Path, help="JSON lines, instead of those for Wikipedia for Schools"
    )
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--details", type=Path, help="file that keeps the value of each question")
    parser.add_argument("--against", type=Path, help="details of an earlier run")
    output_option(parser)
    arguments = parser.parse_args()
    questions = read_questions(arguments.questions) if arguments.questions else wikipedia_questions()
    questions = limited(of_split(questions, arguments.split), arguments.limit)
    flags: dict[str, Any] = dict(assignment.split("=", 1) for assignment in arguments.assignments)
    with tempfile.TemporaryDirectory() as temporary:
        where = {"data_dir": arguments.data_dir or Path(temporary), "search.collection": arguments.collection}
        settings = load_settings(where | flags)
        if arguments.collection not in EmbeddedCatalog(settings.data_dir).names() and not arguments.questions:
            print("Indexing …", flush=True)
            build_index(settings)
        asked = {key: getattr(arguments, key) for key in ("split", "limit", "collection")} | {
            "settings": flags
        }
        details = Details(arguments.details, asked)
        found = {
            name: measured
            for name in arguments.systems.split(",")
            if (measured := measure_alone(name, settings, questions, details))
        }
    result = asked | summary(found)
    show(result, found)
    if arguments.against:
        print("\nAgainst the earlier run:\n\n" + differences(found, read_systems(arguments.against)))
    save("answer_bearing", result, arguments.output)


def limited(questions: Sequence[BearingQuestion], limit: int | None) -> list[BearingQuestion]:
    """Return the first `limit` questions of each set."""
    asked: Counter[str] = Counter()
    found = []
    for question in questions:
        if limit is None or asked[question.origin] < limit:
            found.append(question)
        asked[question.origin] += 1
    return found


def measure_alone(
    name: str, settings: Settings, questions: Sequence[BearingQuestion], details: Details
) -> Measured | None:
    """Measure a system in its own process; None if it needs vectors that the collection does not have."""
    store = EmbeddedCatalog(settings.data_dir).open(settings.search.collection)
    if find_system(name).needs_vectors and not store.is_dense():
        print(f"{name}: skipped, since the collection has no vectors.", flush=True)
        return None
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as process:
        return process.submit(_measure, name, settings, questions, details).result()


def _measure(
    name: str, settings: Settings, questions: Sequence[BearingQuestion], details: Details
) -> Measured:
    return asyncio.run(measure(name, settings, questions, details))


async def measure(
    name: str, settings: Settings, questions: Sequence[BearingQuestion], details: Details
) -> Measured:
    """Ask a system the questions that the details do not have yet, one after the other."""
    measured = details.read(name)
    left = [question for question in questions if question.key not in measured.seconds]
    if not left:
        return measured
    (largest, _), *_ = Counter(q.origin for q in questions if not q.lead).most_common(1) or [("", 0)]
    started = time.perf_counter()
    async with find_system(name).open(settings) as ask:
        await ask(left[0].text, FIVE)  # warm
        for number, question in enumerate(left, 1):
            before = time.perf_counter()
            five, refused = await ask(question.text, FIVE)
            seconds = time.perf_counter() - before
            short = [len(words(reference.text)) < FRAGMENT for reference in five]
            values = {
                f"{question.origin} @1": _bears(question, five[:1]),
                f"{question.origin} @5": _bears(question, five),
                "fragments": sum(short) / max(1, len(short)),
                "first is a fragment": float(any(short[:1])),
                "refused": float(refused),
            }
            if question.origin == largest:
                values[f"{largest} @20"] = await _twenty(ask, question)
            measured.add(question.key, values, round(seconds, 4))
            if number % _EVERY == 0 or number == len(left):
                measured.peak_mb = max(measured.peak_mb, peak_megabytes())
                details.write(name, measured)
                spent = time.perf_counter() - started
                print(
                    f"{name}: {len(measured.seconds)} of {len(questions)} questions, {spent:.0f} s",
                    flush=True,
                )
    return measured


async def _twenty(ask: Ask, question: BearingQuestion) -> float:
    references, _ = await ask(question.text, TWENTY)
    return _bears(question, references)


def _bears(question: BearingQuestion, references: Sequence[Reference]) -> float:
    return float(any(map(question.is_borne_by, references)))


def peak_megabytes() -> float:
    """Return the peak memory of this process; `getrusage` would include that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return round(int(peak) / 1024, 1)


def summary(found: Mapping[str, Measured]) -> dict[str, Any]:
    """Return means with intervals per system and measure, and the tests against the first system."""
    return {
        "systems": {
            name: {
                "measures": {measure: _figure(values) for measure, values in measured.values.items()},
                "seconds": quantiles(list(measured.seconds.values())),
                "peak_mb": measured.peak_mb,
            }
            for name, measured in found.items()
        },
        "baseline": next(iter(found)),
        "tests": {
            measure: {name: asdict(comparison) for name, comparison in systems.items()}
            for measure, systems in paired(found).items()
        },
    }


def paired(found: Mapping[str, Measured]) -> dict[str, dict[str, PairedComparison]]:
    """Compare the other systems with the first in each measure."""
    (_, baseline), *others = found.items()
    return {
        measure: compare_all({name: other.values[measure] for name, other in others}, values)
        for measure, values in baseline.values.items()
    }


def differences(found: Mapping[str, Measured], earlier: Mapping[str, Measured]) -> str:
    """Return a table of each system's differences from itself in an earlier run, over common questions."""
    comparisons: dict[str, dict[str, PairedComparison]] = defaultdict(dict)
    for name in found.keys() & earlier.keys():
        for measure, values in found[name].values.items():
            before = earlier[name].values.get(measure, {})
            if both := {key: before[key] for key in values if key in before}:
                comparisons[measure][name] = compare(values, both)
    return differences_table({measure: corrected(systems) for measure, systems in comparisons.items()})


def show(result: Mapping[str, Any], found: Mapping[str, Measured]) -> None:
    """Print the result as tables."""
    systems = result["systems"]
    measures = list(next(iter(systems.values()))["measures"])
    rows = [
        [measure, next(iter(systems.values()))["measures"][measure]["questions"]]
        + [_with_interval(system["measures"][measure]) for system in systems.values()]
        for measure in sorted(measures)
    ]
    seconds = [f"{system['seconds']['p50']} ({system['seconds']['p90']})" for system in systems.values()]
    rows.append(["seconds, median (p90)", "", *seconds])
    rows.append(["peak MB", "", *(system["peak_mb"] for system in systems.values())])
    print("\n" + table(["measure", "questions", *systems], rows))
    if len(found) > 1:
        print(f"\nAgainst {result['baseline']}:\n\n{differences_table(paired(found))}")


def _with_interval(figure: Mapping[str, float]) -> str:
    return f"{figure['mean']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"


def _figure(values: Mapping[str, float]) -> dict[str, float]:
    low, high = interval(values)
    return {
        "questions": len(values),
        "mean": round(sum(values.values()) / len(values), 3),
        "low": round(low, 3),
        "high": round(high, 3),
    }


if __name__ == "__main__":
    main()
