"""Measure when a language model's refusal is right, on questions with and without an answer.

`python -m benchmarks.refusals --data-dir DIR` asks Wikipedia for Schools (`DIR` has the collection), a folder
of notes and the handbook the sixty questions of `questions/reading.jsonl`, which they answer, the handbook
those of `questions/newcomer.jsonl`, and all three the forty of `questions/unanswerable.jsonl`, which look as
if they did. Each answer is written without a refusal and checked, and kept with the probability of a refusal
(`--details`; an interrupted run continues). From these follows for each value of `generator.refusal` how many
questions get

- `written`: an answer with a sentence that the judge finds supported;
- `quoted`: else quotations, of which the reader is sure that one answers;
- neither, which is right where no page answers.

The rule and its two thresholds were chosen on these questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reading import QUESTIONS, prepare
from benchmarks.results_files import output_option, save, table
from citewell.core.errors import InputError
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Answer
from citewell.generator.local import LocalGenerator
from citewell.generator.orders.marking import evidence_of
from citewell.generator.refusal import REFUSAL
from citewell.pipeline.build import open_pipeline

LEAST = (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
_FILES = {"reading": True, "newcomer": True, "unanswerable": False}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection wikispeedia")
    parser.add_argument("--details", type=Path, default=Path("refusals.jsonl"), help="file of the answers")
    parser.add_argument("--generator", default="qwen2.5-coder-1.5b", help="a local language model")
    output_option(parser)
    arguments = parser.parse_args()
    for collection in ("notes", "handbook", "wikispeedia"):
        settings = load_settings(
            {
                "data_dir": arguments.data_dir,
                "search.collection": collection,
                "generator.name": arguments.generator,
                "generator.refusal": 1.0,
            }
        )
        known = {row["question"] for row in read(arguments.details)}
        missing = [one for one in questions(collection) if one[0] not in known]
        if missing:
            prepare(settings)
            asyncio.run(ask(settings, missing, arguments.details))
    rows = read(arguments.details)
    results = {str(least): measured(rows, least) for least in LEAST}
    save("refusals", {"generator": arguments.generator, "by refusal": results}, arguments.output)
    header = ["generator.refusal", *next(iter(results.values()))]
    print(table(header, [[least, *values.values()] for least, values in results.items()]))


def read(details: Path) -> list[dict[str, Any]]:
    """Return the kept answers, if there are any."""
    lines = details.read_text(encoding="utf-8").splitlines() if details.exists() else []
    return [json.loads(line) for line in lines]


def questions(collection: str) -> Iterator[tuple[str, bool]]:
    """Yield the questions for a collection, and whether its pages answer them."""
    for name, answerable in _FILES.items():
        for line in (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("collection", "handbook") == collection:
                yield row["question"], answerable


async def ask(settings: Settings, asked: Sequence[tuple[str, bool]], details: Path) -> None:
    """Append what becomes of each question to the details.

    Raises `InputError` for a generator that is not a language model that runs in this process.
    """
    async with open_pipeline(settings) as pipeline:
        if not isinstance(pipeline.generator, LocalGenerator):
            raise InputError(
                "--generator is not a language model that runs in this process.", "See: citewell models"
            )
        for number, (question, answerable) in enumerate(asked, 1):
            answer = await final_answer(pipeline.ask(question))
            row = {"question": question, "answerable": answerable, "outcome": outcome(answer)}
            row["refusal"] = await refusal(pipeline.generator, answer) if answer.candidates else 1.0
            with details.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row | {"answer": answer.answer}, ensure_ascii=False) + "\n")
            print(f"{settings.search.collection}: {number} of {len(asked)}", flush=True)


async def refusal(generator: LocalGenerator, answer: Answer) -> float:
    """Return the probability that the generator refuses to answer from the references."""
    asked = generator.messages(answer.question, evidence_of(answer.references))
    (likelihoods,) = await generator.likelihoods(asked, [REFUSAL])
    return round(math.exp(sum(likelihoods)), 4)


def outcome(answer: Answer) -> str:
    """Return what becomes of an answer if it is not refused."""
    if answer.outcome != "answered":
        return "none"
    return "quoted" if answer.fallback else "written"


def measured(rows: Sequence[Mapping[str, Any]], least: float) -> dict[str, str]:
    """Return the numbers of questions by outcome, for a value of the setting."""
    cells = {}
    for name, answerable in (("answered", True), ("unanswerable", False)):
        mine = [row for row in rows if row["answerable"] is answerable]
        found = ["none" if row["refusal"] >= least else row["outcome"] for row in mine]
        cells[f"{name} ({len(mine)}): written"] = str(found.count("written"))
        cells[f"{name} ({len(mine)}): quoted"] = str(found.count("quoted"))
    return cells


if __name__ == "__main__":
    main()
