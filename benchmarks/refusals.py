"""Measure when a language model's refusal is right, on questions with and without an answer.

`python -m benchmarks.refusals --data-dir DIR` asks Wikipedia for Schools (`DIR` has the collection), a folder
of notes and the handbook the sixty questions of `questions/reading.jsonl`, which they answer, the handbook
those of `questions/newcomer.jsonl`, and all three the forty of `questions/unanswerable.jsonl`, which look as
if they did. Each answer is written without a refusal and checked, and kept with the probability of a refusal
and that its best quotation answers (`--details`; an interrupted run continues). From these follows for each
value of `generator.refusal` how many questions get

- `written`: an answer with a sentence that the judge finds supported, and that is relevant;
- `quoted`: if none is supported, quotations, if the reader and the judge find that they answer;
- neither, which is right where no page answers.

The same follows for each least relevance. The rules and their three thresholds were chosen on these
questions.
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
from citewell.core.row_log import RowLog
from citewell.core.settings import GeneratorSettings, Settings, load_settings
from citewell.core.types import Answer, Reference
from citewell.generator.citations.relevance import (
    LEAST_RELEVANCE,
    is_relevant,
    likely_answered,
    relevance,
)
from citewell.generator.local import LocalGenerator
from citewell.generator.orders.marking import evidence_of
from citewell.generator.refusal import REFUSAL, least_refusal
from citewell.generator.yes import YesModel
from citewell.pipeline.build import open_pipeline

REFUSALS = (0.1, 0.2, 0.25, 0.3, 0.4, 1.0)
RELEVANCES = (0.0, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
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
        known = {row["question"] for row in RowLog(arguments.details).rows}
        missing = [one for one in questions(collection) if one[0] not in known]
        if missing:
            prepare(settings)
            asyncio.run(ask(settings, missing, arguments.details))
    rows = RowLog(arguments.details).rows
    by_refusal = {str(least): measured(rows, refusal=least) for least in REFUSALS}
    by_relevance = {str(least): measured(rows, relevance=least) for least in RELEVANCES}
    save(
        "refusals",
        {"generator": arguments.generator, "by refusal": by_refusal, "by relevance": by_relevance},
        arguments.output,
    )
    for name, results in (("generator.refusal", by_refusal), ("least relevance", by_relevance)):
        header = [name, *next(iter(results.values()))]
        print(table(header, [[least, *values.values()] for least, values in results.items()]))


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
    log = RowLog(details)
    async with open_pipeline(settings) as pipeline:
        if not isinstance(pipeline.generator, LocalGenerator) or pipeline.judge is None:
            raise InputError(
                "--generator is not a language model that runs in this process.", "See: citewell models"
            )
        for number, (question, answerable) in enumerate(asked, 1):
            answer = await final_answer(pipeline.ask(question))
            row = {"question": question, "answerable": answerable, "outcome": outcome(answer)}
            row["refusal"] = await refusal(pipeline.generator, answer) if answer.candidates else 1.0
            row["relevance"] = await relevance_of(pipeline.judge.model, answer)
            row["likely"] = await likely_answered(
                pipeline.judge.model, question, answer.quotations, answer.references
            )
            row["first_supported"] = bool(answer.candidates) and is_first_supported(answer)
            log.append(row | {"answer": answer.answer})
            print(f"{settings.search.collection}: {number} of {len(asked)}", flush=True)


async def refusal(generator: LocalGenerator, answer: Answer) -> float:
    """Return the probability that the generator refuses to answer from the references."""
    return await refusal_from(generator, answer.question, evidence_of(answer.references))


async def refusal_from(generator: LocalGenerator, question: str, references: Sequence[Reference]) -> float:
    """Return the probability that the generator refuses to answer a question from references."""
    asked = generator.messages(question, references)
    (likelihoods,) = await generator.likelihoods(asked, [REFUSAL])
    return round(math.exp(sum(likelihoods)), 4)


async def relevance_of(model: YesModel, answer: Answer) -> float | None:
    """Return the relevance of what is written; None if nothing of it is supported."""
    if not answer.candidates:
        return None
    sentences = answer.candidates[answer.best].sentences
    return await relevance(model, answer.question, sentences, answer.references)


def is_first_supported(answer: Answer) -> bool:
    """Return whether the first sentence that is written is supported."""
    return any(each.supported for each in answer.candidates[answer.best].sentences[:1])


def outcome(answer: Answer) -> str:
    """Return what becomes of an answer if it is neither refused nor irrelevant."""
    is_supported = answer.candidates and any(s.supported for s in answer.candidates[answer.best].sentences)
    if is_supported and answer.fallback != "unsupported":
        return "written"
    return "quoted" if answer.outcome == "answered" else "none"


def measured(
    rows: Sequence[Mapping[str, Any]],
    *,
    refusal: float = GeneratorSettings().refusal,
    relevance: float = LEAST_RELEVANCE,
) -> dict[str, str]:
    """Return the numbers of questions by outcome, for values of the two thresholds."""

    def becomes(row: Mapping[str, Any]) -> str:
        found: str = row["outcome"]
        shown = found != "written" or is_relevant(
            row["relevance"], first_supported=row["first_supported"], least=relevance
        )
        least = refusal if row["likely"] is None else least_refusal(refusal, row["likely"])
        return found if shown and row["refusal"] < least else "none"

    cells = {}
    for name, answerable in (("answered", True), ("unanswerable", False)):
        mine = [row for row in rows if row["answerable"] is answerable]
        found = [becomes(row) for row in mine]
        cells[f"{name} ({len(mine)}): written"] = str(found.count("written"))
        cells[f"{name} ({len(mine)}): quoted"] = str(found.count("quoted"))
    return cells


if __name__ == "__main__":
    main()
