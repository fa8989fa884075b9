"""Measure whether quoted answers to definitions begin with the article that the question names.

`python -m benchmarks.lead_sentences --data-dir DIR` asks Wikipedia for Schools (`DIR` has the collection, or
gets it) the 200 questions "What is X?" and "Who was X?" of `benchmarks.answer_questions`, and lets Citewell
quote. It prints, for the questions on which choices were made and for the third that is held out:

- `lead`: the share of answers whose first sentence cites the lead of the article X;
- `of the article`: the share whose first sentence cites the article X;
- `no answer`: the share of questions without an answer, which count in the shares above.

`--details FILE` keeps each answer; a run with the same file asks the other questions.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.answer_questions import BearingQuestion, Split, of_split, wikipedia_definitions
from benchmarks.ask_wikispeedia import COLLECTION, build_index
from benchmarks.results_files import output_option, save, table
from citewell.core.events import final_answer
from citewell.core.row_log import RowLog
from citewell.core.settings import Settings, load_settings
from citewell.core.significance import interval
from citewell.core.types import Answer, Reference
from citewell.generator.auto import EXTRACTIVE
from citewell.pipeline.build import open_pipeline
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog

_SPLITS: tuple[Split, ...] = ("dev", "held")
_EVERY = 20  # questions between two lines of progress


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--limit", type=int, help="maximum questions of each split")
    parser.add_argument("--details", type=Path, help="file of the answers")
    output_option(parser)
    arguments = parser.parse_args()
    definitions = wikipedia_definitions()
    asked = {split: of_split(definitions, split)[: arguments.limit] for split in _SPLITS}
    with tempfile.TemporaryDirectory() as temporary:
        where = {"data_dir": arguments.data_dir or Path(temporary), "search.collection": COLLECTION}
        settings = load_settings(where | {"generator.name": EXTRACTIVE})
        if COLLECTION not in EmbeddedCatalog(settings.data_dir).names():
            build_index(settings)
        details = arguments.details or Path(temporary) / "details.jsonl"
        asyncio.run(ask(settings, [question for each in asked.values() for question in each], details))
        rows = {row["question"]: row for row in RowLog(details).rows}
    found = {split: summary([rows[question.text] for question in each]) for split, each in asked.items()}
    header = ["questions", "number", *found["dev"]]
    print(table(header, [[n, len(asked[n]), *(_shown(s) for s in f.values())] for n, f in found.items()]))
    save("lead_sentences", {"splits": found}, arguments.output)


async def ask(settings: Settings, questions: Sequence[BearingQuestion], details: Path) -> None:
    """Append what becomes of each question to the details, unless they have it."""
    log = RowLog(details)
    known = {row["question"] for row in log.rows}
    missing = [question for question in questions if question.text not in known]
    async with open_pipeline(settings) as pipeline:
        for number, question in enumerate(missing, 1):
            log.append(measured(question, await final_answer(pipeline.ask(question.text))))
            if number % _EVERY == 0:
                print(f"{number} of {len(missing)}", flush=True)


def measured(question: BearingQuestion, answer: Answer) -> dict[str, Any]:
    """Return where the first sentence of an answer comes from."""
    first = answer.sentences[0] if answer.outcome == "answered" and answer.sentences else None
    cited = [r for r in answer.references if first is not None and r.number in first.citations]
    return {
        "question": question.text,
        "first": first.text if first is not None else "",
        "lead": any(map(question.is_borne_by, cited)),
        "of the article": any(question.url in _pages(reference) for reference in cited),
        "no answer": first is None,
    }


def _pages(reference: Reference) -> tuple[str, ...]:
    return (reference.url, *reference.duplicate_urls)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the share of the questions for each measure, with its 95% interval."""
    found = {}
    for name in ("lead", "of the article", "no answer"):
        values = {row["question"]: float(row[name]) for row in rows}
        low, high = interval(values)
        found[name] = {"value": sum(values.values()) / max(1, len(values)), "low": low, "high": high}
    return found


def _shown(share: dict[str, float]) -> str:
    return f"{share['value']:.3f} ({share['low']:.3f} to {share['high']:.3f})"


if __name__ == "__main__":
    main()
