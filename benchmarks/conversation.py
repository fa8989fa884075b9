"""Measure follow-up questions: does a rewritten question find the passages that answer it?

`python -m benchmarks.conversation` takes the answerable follow-up questions of MTRAG, which people asked in
conversation with a system, and for which people labeled the passages that answer. All passages of the data
set are one collection. Each question is searched as it is, rewritten by the rule, rewritten by the writer,
and, as a ceiling that no product has, together with the answer that a person wrote: the data set has no
rewriting by a person. It prints the share of questions whose first reference is a labeled passage, the share
with one among the five references, and the share of the labeled passages that are among them.

Conversations are split in two parts by a digest of their ids: rule and prompt were tuned on `tune`, and
`report` was kept apart.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results_files import external_data, output_option, quantiles, save, table
from citewell.core.events import final_answer
from citewell.core.row_log import RowLog
from citewell.core.settings import GeneratorSettings, Settings, load_settings
from citewell.core.significance import compare_all, differences_table, interval
from citewell.core.text import words
from citewell.core.types import Turn
from citewell.generator.completer import Completer
from citewell.generator.load import open_completer
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.collections import catalog_of
from citewell.pipeline.conversation.rule import complete
from citewell.pipeline.conversation.writer import write_question
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument

COLLECTION = "mtrag"
PARTS = ("tune", "report")
SYSTEMS = ("as it is", "rule", "writer", "with the human answer")

Rewrite = Callable[["FollowUp"], Awaitable[str]]


@dataclass(frozen=True)
class FollowUp:
    """A question, the turns before it, the pages that answer it, and the answer of a person."""

    id: str
    question: str
    turns: tuple[Turn, ...]
    pages: frozenset[str]
    answer: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--part", choices=PARTS, default="report", help="the part of the conversations [report]"
    )
    parser.add_argument("--limit", type=int, help="questions [all]")
    parser.add_argument("--writer", default="auto", help="the language model; none measures the rule alone")
    parser.add_argument("--written", type=Path, help="keep what the writer writes in this file, and reuse it")
    parser.add_argument("--show", action="store_true", help="print each question and its rewritings")
    output_option(parser)
    arguments = parser.parse_args()
    rows = read_rows()
    asked = [row for row in follow_ups(rows) if part_of(row.id) == arguments.part][: arguments.limit]
    with tempfile.TemporaryDirectory() as folder:
        named = {"data_dir": folder, "search.collection": COLLECTION, "generator.name": "extractive"}
        settings = load_settings(named)
        index(settings, rows)
        written = asyncio.run(rewrite_all(asked, arguments.writer, arguments.written))
        found = asyncio.run(search_all(settings, asked, written, show=arguments.show))
    result = summarize(found)
    seconds = [each for each, _ in written.values() if each]
    if seconds:
        result["seconds_per_rewriting"] = quantiles(seconds)
        print(f"\nSeconds per rewriting by the writer: {result['seconds_per_rewriting']}")
    about = {"part": arguments.part, "questions": len(asked), "writer": arguments.writer}
    save("conversation", about | result, arguments.output)


def read_rows() -> list[dict[str, object]]:
    """Return the rows of MTRAG."""
    with gzip.open(external_data() / "answerability" / "mtrag.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def follow_ups(rows: Iterable[Mapping[str, object]]) -> list[FollowUp]:
    """Return the answerable questions that have turns before them."""
    return [follow_up(row) for row in rows if row["label"] == "answerable" and row["history"]]


def follow_up(row: Mapping[str, object]) -> FollowUp:
    """Read a row, whose history alternates between the user and the agent."""
    turns: list[Turn] = []
    for said in row["history"]:  # type: ignore[attr-defined]
        if said["role"] == "user":
            turns.append(Turn(said["text"]))
        elif turns:
            turns[-1] = Turn(turns[-1].question, said["text"].strip())
    pages = frozenset(page_of(passage["text"]) for passage in row["passages"])  # type: ignore[attr-defined]
    return FollowUp(str(row["id"]), str(row["question"]), tuple(turns), pages, str(row["answer"]))


def part_of(id_: str) -> str:
    """Return the part of a conversation; all its questions are in one."""
    digest = hashlib.sha256(id_.partition("<::>")[0].rpartition("-")[2].encode()).digest()
    return PARTS[digest[0] % 2]


def page_of(text: str) -> str:
    """Return the address of a passage in the collection."""
    return f"https://mtrag.example/{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def index(settings: Settings, rows: Iterable[Mapping[str, object]]) -> None:
    """Index all passages as pages of one collection."""
    texts = {passage["text"] for row in rows for passage in row["passages"]}  # type: ignore[attr-defined]
    documents = [SourceDocument(page_of(text), text.encode(), "text/plain", "") for text in sorted(texts)]
    with indexing(catalog_of(settings, COLLECTION), COLLECTION) as indexer:
        index_documents(indexer, COLLECTION, documents)
    print(f"{len(documents)} passages", flush=True)


async def rewrite_all(
    asked: Sequence[FollowUp], writer: str, file: Path | None
) -> dict[str, tuple[float, str]]:
    """Return the seconds and the rewriting of each question by the writer, empty if it wrote none."""
    written: dict[str, tuple[float, str]] = {}
    log = RowLog(file) if file else None
    if log:
        written = {row["id"]: (row["seconds"], row["text"]) for row in log.rows}
    missing = [row for row in asked if row.id not in written]
    if writer == "none" or not missing:
        return written
    settings = load_settings()
    wanted = GeneratorSettings(name=writer)
    async with open_completer(wanted, settings.cache_dir, threads=settings.threads) as completer:
        for number, row in enumerate(missing, start=1):
            written[row.id] = await timed(completer, row)
            if log:
                seconds, text = written[row.id]
                log.append({"id": row.id, "seconds": seconds, "text": text})
            if number % 10 == 0:
                print(f"{number} of {len(missing)} rewritten", flush=True)
    return written


async def timed(completer: Completer, row: FollowUp) -> tuple[float, str]:
    """Return the seconds and the rewriting of a question."""
    before = time.perf_counter()
    text = await write_question(completer, row.question, row.turns)
    return round(time.perf_counter() - before, 3), text


async def search_all(
    settings: Settings, asked: Sequence[FollowUp], written: Mapping[str, tuple[float, str]], *, show: bool
) -> dict[str, dict[str, dict[str, float]]]:
    """Return, by measure, system and question, what is found."""
    found: dict[str, dict[str, dict[str, float]]] = {"hit@1": {}, "hit@5": {}, "recall@5": {}}
    async with open_pipeline(settings) as pipeline:
        for row in asked:
            known: dict[str, list[str]] = {}
            for system, text in rewritings(row, written).items():
                if text not in known:
                    answer = await final_answer(pipeline.retrieve(text[:4000]))
                    known[text] = [reference.url for reference in answer.references]
                urls = known[text]
                hits = row.pages & set(urls)
                found["hit@1"].setdefault(system, {})[row.id] = float(bool(row.pages & set(urls[:1])))
                found["hit@5"].setdefault(system, {})[row.id] = float(bool(hits))
                found["recall@5"].setdefault(system, {})[row.id] = len(hits) / len(row.pages)
                if show:
                    print(f"{len(hits)}/{len(row.pages)} {system}: {text[:200]}", flush=True)
    return found


def rewritings(row: FollowUp, written: Mapping[str, tuple[float, str]]) -> dict[str, str]:
    """Return what each system searches for."""
    rule = complete(row.question, row.turns)
    texts = {SYSTEMS[0]: row.question, SYSTEMS[1]: rule}
    if written:
        text = written[row.id][1]
        texts[SYSTEMS[2]] = text if text and words(text) != words(row.question) else rule
    return texts | {SYSTEMS[3]: f"{row.question} {row.answer}"}


def summarize(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, object]:
    """Print the shares with their intervals and the differences from the question as it is; return them."""
    rows, result = [], {}
    for system in next(iter(found.values())):
        cells = []
        for measure, systems in found.items():
            values = systems[system]
            mean, (low, high) = sum(values.values()) / len(values), interval(values)
            cells.append(f"{mean:.3f} ({low:.3f} to {high:.3f})")
            result[f"{system}, {measure}"] = [round(mean, 4), round(low, 4), round(high, 4)]
        rows.append([system, *cells])
    print(table(["question", *found], rows))
    first = SYSTEMS[0]
    differences = {
        measure: compare_all({name: v for name, v in systems.items() if name != first}, systems[first])
        for measure, systems in found.items()
    }
    print(f"\n{differences_table(differences)}")
    return {"measures": result}


if __name__ == "__main__":
    main()
