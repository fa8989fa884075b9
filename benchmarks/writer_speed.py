"""Measure the writer on two cores as `citewell ask` uses it, and its file on other engines.

`python -m benchmarks.writer_speed` asks questions about Wikipedia for Schools (`--data-dir` has its
collection, or the settings do), after one that loads and reads what all have in common. It measures when the
quotations, the first written word and the checked answer are there, how one and four candidates compare, and
the peak memory. Each is a process of its own. Then `benchmarks.generation_engines` writes with the same GGUF
file on Citewell's engine, on transformers in float32 and on llama.cpp (`pip install xllamacpp`, compiled for
AVX2); it says which engine is not installed. Let nothing else run on the machine: the result names its
load. `--small` tries the command: a small writer, and four notes in place of the collection.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.ask_wikispeedia import COLLECTION, OWN_QUESTIONS
from benchmarks.batched_writing import CANDIDATES, QuestionWithReferences, candidates, in_process, tokens_of
from benchmarks.generation_engines import DEFAULT, REFERENCE
from benchmarks.results_files import output_option, peak_megabytes, save, table
from benchmarks.small_service import BATS, index_notes
from citewell.core.events import Done, Quoted, Token, final_answer
from citewell.core.models.installed import installed_path
from citewell.core.settings import load_settings
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.pipeline import Pipeline

WRITER, SMALL_WRITER = "qwen2.5-coder-1.5b", "SmolLM2-135M-Instruct"
CORES = 2
LLAMA = "llama.cpp"
# Words of the answers whose seconds have an aim.
LENGTH = range(60, 101)
QUIET = 0.3
"""The load average of a machine on which nothing else runs, at most."""
SMALL_QUESTIONS = (BATS, "What causes the tides?", "How do bees make honey?")


class WriterAim(NamedTuple):
    """What is measured, and the most that it should be, or the least."""

    meaning: str
    bound: float
    least: bool = False

    def met(self, value: float) -> bool:
        """Return whether a value is as it should be."""
        return value >= self.bound if self.least else value <= self.bound


AIMS = {
    "quoted": WriterAim("quotations visible, s", 1.0),
    "first_word": WriterAim("first written word, s", 2.5),
    "answer": WriterAim(f"checked answer of {LENGTH[0]} to {LENGTH[-1]} words, s", 8.0),
    "candidates_ratio": WriterAim(f"{CANDIDATES} candidates, times one", 1.7),
    "peak_mb": WriterAim("peak memory, MB", 2500),
    REFERENCE: WriterAim("tokens per second, times transformers in float32", 5.0, least=True),
    LLAMA: WriterAim("tokens per second, times llama.cpp", 1.2, least=True),
}


class AskedTimes(NamedTuple):
    """Seconds from the question to what is visible, and the size of what is written."""

    quoted: float
    first_word: float
    last_word: float
    answer: float
    words: int
    later_tokens: int
    """Tokens after the first piece."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--generator", help=f"a model of `citewell models` [{WRITER}]")
    parser.add_argument("--limit", type=int, default=20, help="questions [%(default)s]")
    parser.add_argument("--best-of", type=int, default=6, help="questions with candidates [%(default)s]")
    parser.add_argument("--data-dir", help="folder of the collection [that of the settings]")
    parser.add_argument(
        "--engines", default=f"{DEFAULT},{REFERENCE},{LLAMA}", help="to compare; empty: none [%(default)s]"
    )
    parser.add_argument("--repeats", type=int, default=3, help="of each engine [%(default)s]")
    parser.add_argument("--small", action="store_true", help="a trial: a small writer, four notes")
    output_option(parser)
    arguments = parser.parse_args()
    name = arguments.generator or (SMALL_WRITER if arguments.small else WRITER)
    file = installed_path(name)
    if file is None:
        sys.exit(f"The model {name} is not installed: citewell models get {name}")
    if hasattr(os, "sched_setaffinity"):  # the processes that this one starts inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        flags = {"generator.name": name, "threads": CORES, "search.collection": COLLECTION}
        if arguments.data_dir:
            flags["data_dir"] = arguments.data_dir
        if arguments.small:
            flags |= small_collection(Path(folder))
        result = measure(flags, questions(arguments), arguments.best_of)
        if arguments.engines:
            result["engines"] = compare(file, arguments.engines, arguments.repeats, Path(folder))
    print(table(["measured", "value", "aim", ""], rows(result)))
    if load > QUIET:
        print(f"\nThe machine was not quiet: its load average was {load:.2f}.")
    save("writer_speed", {"generator": name, "load_average_before": load} | result, arguments.output)


def small_collection(folder: Path) -> dict[str, Any]:
    """Index the notes of small services; return the settings that search them and write little."""
    index_notes(folder, "notes")
    return {"data_dir": str(folder), "search.collection": "notes", "generator.answer_tokens": 32}


def questions(arguments: argparse.Namespace) -> list[str]:
    """Return the questions; the first one is not measured."""
    if arguments.small:
        return list(SMALL_QUESTIONS)
    lines = OWN_QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines[: arguments.limit + 1]]


def measure(flags: Mapping[str, Any], texts: Sequence[str], best_of: int) -> dict[str, Any]:
    """Measure the answers, and then one and several candidates of up to `best_of` questions."""
    result = in_process(measure_answers, flags, texts)
    one, several = (in_process(measure_candidates, flags, texts[: best_of + 1], n) for n in (1, CANDIDATES))
    result["candidates"] = {"1": one, str(CANDIDATES): several}
    result["candidates_ratio"] = round(
        statistics.median(more / less for less, more in zip(one, several, strict=True)), 2
    )
    return result


async def measure_answers(flags: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Ask the questions one after another, and return medians."""
    async with open_pipeline(load_settings(dict(flags))) as pipeline:
        asked = [await ask(pipeline, text) for text in texts][1:]
    written = [each for each in asked if each is not None]
    if not written:
        sys.exit("Nothing was written: the collection has no references for the questions.")
    long = [each.answer for each in written if each.words in LENGTH]
    writing = sum(each.last_word - each.first_word for each in written)
    tokens = sum(each.later_tokens for each in written)
    return {
        "questions": len(asked),
        "written": len(written),
        "quoted": _median([each.quoted for each in written]),
        "first_word": _median([each.first_word for each in written]),
        "any_answer": _median([each.answer for each in written]),
        "words": statistics.median(each.words for each in written),
        "answer": _median(long) if long else None,
        "answers": len(long),
        "tokens_per_second": round(tokens / writing, 2) if writing else None,
        "peak_mb": peak_megabytes(),
    }


async def ask(pipeline: Pipeline, question: str) -> AskedTimes | None:
    """Ask a question; None if nothing was written."""
    started, quoted, answer = time.perf_counter(), 0.0, 0.0
    pieces: list[tuple[float, str]] = []
    async with aclosing(pipeline.ask(question)) as events:
        async for event in events:
            seconds = time.perf_counter() - started
            if isinstance(event, Quoted):
                quoted = seconds
            elif isinstance(event, Token):
                pieces.append((seconds, event.text))
            elif isinstance(event, Done):
                answer = seconds
    if not pieces:
        return None
    text = "".join(piece for _, piece in pieces)
    later = tokens_of(pipeline, "".join(piece for _, piece in pieces[1:]))
    return AskedTimes(quoted, pieces[0][0], pieces[-1][0], answer, len(text.split()), later)


async def measure_candidates(flags: Mapping[str, Any], texts: Sequence[str], n: int) -> list[float]:
    """Return the seconds in which `n` candidates of each question but the first are written."""
    async with open_pipeline(load_settings(dict(flags))) as pipeline:
        found = [
            QuestionWithReferences(text, (await final_answer(pipeline.retrieve(text))).references)
            for text in texts
        ]
        return [await candidates(pipeline, each, n) for each in found][1:]


def compare(file: Path, engines: str, repeats: int, folder: Path) -> dict[str, Any]:
    """Run the engines on a GGUF file; return what `benchmarks.generation_engines` reports of each."""
    output = folder / "engines.json"
    command = [sys.executable, "-m", "benchmarks.generation_engines", "--model", str(file)]
    command += ["--engines", engines, "--repeats", str(repeats), "--greedy", "--skip-agreement"]
    subprocess.run([*command, "--output", str(output)], check=True, cwd=Path(__file__).parents[1])
    report: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return {name: report[name] for name in ("prompt_tokens", "engines", "tokens_per_second_times")}


def rows(result: Mapping[str, Any]) -> list[list[object]]:
    """Return the table's rows: each value with its aim, if that is known and it was measured."""
    engines: Mapping[str, Any] = result.get("engines", {})
    times = {name: each["median"] for name, each in engines.get("tokens_per_second_times", {}).items()}
    found: list[list[object]] = []
    for name, aim in AIMS.items():
        value = times.get(name) if name in (REFERENCE, LLAMA) else result[name]
        sign = "≥" if aim.least else "≤"
        verdict = "not measured" if value is None else ("met" if aim.met(value) else "missed")
        found.append(
            [aim.meaning, "" if value is None else f"{value:,.2f}", f"{sign} {aim.bound:g}", verdict]
        )
    found.append(["any checked answer, s", result["any_answer"], "", f"{result['words']:g} words"])
    found.append(["tokens per second", result["tokens_per_second"], "", ""])
    for name, each in engines.get("engines", {}).items():
        rate = each.get("tokens_per_second", {}).get("median")
        found.append(
            [f"{name}, tokens per second", "" if rate is None else f"{rate:.2f}", "", each.get("error", "")]
        )
    return found


def _median(seconds: Sequence[float]) -> float:
    return round(statistics.median(seconds), 3)


if __name__ == "__main__":
    main()
