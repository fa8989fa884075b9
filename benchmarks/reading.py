"""Write questions with their answers and references for a person to read.

`python -m benchmarks.reading` asks the sixty questions of `questions/reading.jsonl` with the default
pipeline: twenty each in Wikipedia for Schools, in the handbook, and in a folder of notes
(`questions/notes/`). Each question has a fact that a good answer holds. `benchmarks/results/reading.md` marks
where the answer or a reference has the fact in these words, which is a hint and not a verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.ask_wikispeedia import COLLECTION, build_index
from benchmarks.results_files import RESULTS, machine, output_option, table
from citewell.core.answers import has_answer
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.text import shorten, squeeze
from citewell.core.types import Answer
from citewell.pipeline.build import open_pipeline
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source

QUESTIONS = Path(__file__).parent / "questions"
NOTES = "notes"
_SHOWN = 500  # characters of a reference


class ReadingQuestion(NamedTuple):
    """A question, and a fact that a good answer holds."""

    collection: str
    kind: str
    question: str
    fact: str


class ReadQuestion(NamedTuple):
    """A question with its answer, and where the fact stands."""

    question: ReadingQuestion
    answer: Answer

    @property
    def place(self) -> str:
        """Where the fact stands: in the answer, else in which reference."""
        if has_answer(self.answer.answer, [self.question.fact]):
            return "in the answer"
        held = [r.number for r in self.answer.references if has_answer(r.text, [self.question.fact])]
        return f"in reference {held[0]} only" if held else "missing"


def main() -> None:
    """Ask the questions and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collections; temporary by default")
    parser.add_argument("--collections", default=f"{COLLECTION},handbook,{NOTES}", help="comma-separated")
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="NAME=VALUE")
    output_option(parser)
    arguments = parser.parse_args()
    lines = (QUESTIONS / "reading.jsonl").read_text(encoding="utf-8").splitlines()
    by_collection: dict[str, list[ReadingQuestion]] = defaultdict(list)
    for question in (ReadingQuestion(**json.loads(line)) for line in lines):
        by_collection[question.collection].append(question)
    flags: dict[str, Any] = dict(assignment.split("=", 1) for assignment in arguments.assignments)
    asked: list[ReadQuestion] = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.collections.split(","):
            where = {"data_dir": arguments.data_dir or Path(temporary), "search.collection": name}
            settings = load_settings(where | flags)
            prepare(settings)
            asked += asyncio.run(ask(settings, by_collection[name]))
            print(f"{name}: asked {len(by_collection[name])} questions", flush=True)
    file = arguments.output or RESULTS / "reading.md"
    file.write_text(report(asked), encoding="utf-8")
    print(f"{counts(asked)}\n\nWritten to {file}.")


def prepare(settings: Settings) -> None:
    """Index the collection of the settings, unless the pipeline does so itself or it is there already."""
    name = settings.search.collection
    if name == NOTES:
        with indexing(EmbeddedCatalog(settings.data_dir), NOTES) as indexer:
            index_documents(indexer, NOTES, read_source(QUESTIONS / NOTES))
    elif name == COLLECTION and name not in EmbeddedCatalog(settings.data_dir).names():
        build_index(settings)


async def ask(settings: Settings, questions: Sequence[ReadingQuestion]) -> list[ReadQuestion]:
    """Answer the questions in one pipeline."""
    async with open_pipeline(settings) as pipeline:
        return [
            ReadQuestion(question, await final_answer(pipeline.ask(question.question)))
            for question in questions
        ]


def counts(asked: Sequence[ReadQuestion]) -> str:
    """Return a table of where the facts stand, per collection and kind of question."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in asked:
        refused = one.answer.outcome == "no_evidence"
        rows[one.question.collection, one.question.kind].update(
            {"questions": 1, " ".join(one.place.split()[:2]): 1, "no evidence": refused}
        )
    columns = ("questions", "in the", "in reference", "missing", "no evidence")
    header = [
        "collection",
        "kind",
        "questions",
        "in the answer",
        "in a reference only",
        "missing",
        "no evidence",
    ]
    return table(header, [[*key, *(row[column] for column in columns)] for key, row in rows.items()])


def report(asked: Sequence[ReadQuestion]) -> str:
    """Return the whole file."""
    parts = [
        "# Answers to read",
        f"`python -m benchmarks.reading`, {machine()}. The fact of a question is looked for in the answer "
        "and the references in these words.",
        counts(asked),
    ]
    collection = ""
    for number, one in enumerate(asked, 1):
        if one.question.collection != collection:
            collection = one.question.collection
            parts.append(f"## {collection}")
        parts += [f"### {number}. {one.question.question}", _answer(one)]
    return "\n\n".join(parts) + "\n"


def _answer(one: ReadQuestion) -> str:
    lines = [
        f"Fact ({one.question.kind}): {one.question.fact} — {one.place}.",
        f"**{one.answer.outcome}:** {squeeze(one.answer.answer)}",
    ]
    lines += [
        f"{r.number}. *{r.title}* ({r.score:.2f}) {shorten(squeeze(r.text), _SHOWN)}"
        for r in one.answer.references
    ]
    return "\n\n".join(lines)


if __name__ == "__main__":
    main()
