"""Measure answers that a local language model writes together: per minute, and how long each takes.

`python -m benchmarks.batched_writing` asks questions about Wikipedia for Schools (`--data-dir` has its
collection, or the settings do), finds their references once, and has all answers written and checked from
these, `--together` at a time. Then it writes one and four candidates of some questions, without the check.
Each is a process of its own. The answers must be the same however many are written together; those that are
not are counted. With CITEWELL_THREADS=1, the seconds of the processor depend little on what else the machine
does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeVar

from benchmarks.ask_wikispeedia import COLLECTION, OWN_QUESTIONS
from benchmarks.results_files import output_option, peak_megabytes, quantiles, save, table
from citewell.core.events import Scored, Token, final_answer
from citewell.core.settings import load_settings
from citewell.core.types import Reference
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.pipeline import Pipeline

CANDIDATES = 4

T = TypeVar("T")


class QuestionWithReferences(NamedTuple):
    """A question with its references."""

    text: str
    references: Sequence[Reference]


class TimedAnswer(NamedTuple):
    """What the model wrote, and the seconds until its first token and until the checked answer."""

    raw: str
    first_token: float
    seconds: float


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--generator", default="qwen2.5-coder-1.5b")
    parser.add_argument("--limit", type=int, default=16, help="questions [%(default)s]")
    parser.add_argument("--best-of", type=int, default=4, help="questions with candidates [%(default)s]")
    parser.add_argument("--together", default="1,4,8", help="answers at a time [%(default)s]")
    parser.add_argument("--data-dir", help="folder of the collection [that of the settings]")
    output_option(parser)
    arguments = parser.parse_args()
    levels = [int(each) for each in arguments.together.split(",")]
    flags = {"search.collection": COLLECTION, "generator.name": arguments.generator}
    flags |= {"generator.concurrency": max(levels)}
    if arguments.data_dir:
        flags["data_dir"] = arguments.data_dir
    found = {level: in_process(measure, flags, arguments.limit, level) for level in levels}
    alone = found[levels[0]].pop("texts")
    for level in levels[1:]:
        texts = found[level].pop("texts")
        found[level]["different"] = sum(one != other for one, other in zip(alone, texts, strict=True))
    candidates = {n: in_process(measure_candidates, flags, arguments.best_of, n) for n in (1, CANDIDATES)}
    rows = [
        [level, *(each[name] for name in ("answers_per_minute", "tokens_per_second", "processor_seconds"))]
        + [each["seconds"]["p50"], each["first_token"]["p50"], each.get("different", ""), each["peak_mb"]]
        for level, each in found.items()
    ]
    head = ["together", "answers/min", "tokens/s", "processor s", "seconds, median", "first token"]
    print(table([*head, "different", "peak MB"], rows))
    print(f"\nSeconds to write 1 and {CANDIDATES} candidates, median: {candidates}")
    about = {"generator": arguments.generator, "threads": load_settings(flags).threads}
    result = about | {"questions": len(alone), "together": found, "candidates": candidates}
    save("batched_writing", result, arguments.output)


def in_process(work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
    """Call `work` in a new process, which has no prompt in its memory yet."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_run, work, *arguments).result()


def _run(work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
    return asyncio.run(work(*arguments))


async def measure(flags: dict[str, Any], limit: int, level: int) -> dict[str, Any]:
    """Write and check the answers, `level` at a time."""
    async with open_pipeline(load_settings(flags)) as pipeline:
        first, *asked = await questions(pipeline, limit + 1)
        await answer(pipeline, first)  # which loads what all use, and reads what all prompts begin with
        started, computed = time.perf_counter(), time.process_time()
        answers = await run_together(pipeline, asked, level)
        seconds, computed = time.perf_counter() - started, time.process_time() - computed
        tokens = sum(tokens_of(pipeline, each.raw) for each in answers)
    found = {
        "answers_per_minute": round(60 * len(answers) / seconds, 2),
        "tokens_per_second": round(tokens / seconds, 2),
        "processor_seconds": round(computed / len(answers), 2),
        "seconds": quantiles([each.seconds for each in answers]),
        "first_token": quantiles([each.first_token for each in answers]),
        "peak_mb": peak_megabytes(),
    }
    print(level, found, flush=True)
    return found | {"texts": [each.raw for each in answers]}


async def measure_candidates(flags: dict[str, Any], limit: int, n: int) -> float:
    """Return the median of the seconds in which `n` candidates are written."""
    async with open_pipeline(load_settings(flags)) as pipeline:
        first, *asked = await questions(pipeline, limit + 1)
        await answer(pipeline, first)
        return statistics.median([await candidates(pipeline, each, n) for each in asked])


async def questions(pipeline: Pipeline, limit: int) -> list[QuestionWithReferences]:
    """Return the first questions for which references are found."""
    found: list[QuestionWithReferences] = []
    for line in OWN_QUESTIONS.read_text(encoding="utf-8").splitlines():
        if len(found) == limit:
            break
        text = json.loads(line)["question"]
        got = await final_answer(pipeline.retrieve(text))
        if references := [each for each in got.references if each.text]:
            found.append(QuestionWithReferences(text, references))
    return found


async def answer(pipeline: Pipeline, question: QuestionWithReferences) -> TimedAnswer:
    """Write and check an answer."""
    started, first, raw = time.perf_counter(), 0.0, ""
    async with aclosing(pipeline.write(question.text, question.references)) as events:
        async for event in events:
            if isinstance(event, Token):
                first = first or time.perf_counter() - started
            elif isinstance(event, Scored):
                raw = event.candidates[event.best].raw
    return TimedAnswer(raw, first, time.perf_counter() - started)


async def candidates(pipeline: Pipeline, question: QuestionWithReferences, n: int) -> float:
    """Return the seconds in which so many candidates are written."""
    started = time.perf_counter()
    async for _ in pipeline.generator.generate(question.text, question.references, n):
        pass
    return round(time.perf_counter() - started, 2)


async def run_together(
    pipeline: Pipeline, asked: Sequence[QuestionWithReferences], level: int
) -> list[TimedAnswer]:
    """Answer `level` questions at a time."""
    slots = asyncio.Semaphore(level)

    async def one(question: QuestionWithReferences) -> TimedAnswer:
        async with slots:
            return await answer(pipeline, question)

    return await asyncio.gather(*map(one, asked))


def tokens_of(pipeline: Pipeline, text: str) -> int:
    """Count the tokens of a text that the generator wrote."""
    return pipeline.generator.completer.count(text) if pipeline.generator.completer else 0


if __name__ == "__main__":
    main()
