"""Ask people's own documents in people's own words.

`python -m benchmarks.own_documents` asks twelve short documents (a lease, minutes, a price list, a manual and
others in `questions/own/`) sixty questions that they answer, which share few words with them, and thirty that
they do not, though they share more. It prints, for each generator of `--generators`:

- `found @k`: the share of the sixty whose evidence is in one of the first k references;
- `right`: the share of the sixty whose answer has a string that only a right answer has, in parts or whole;
- `told`: the same share where the sentences count that are quoted below an answer, or in place of one;
- `answered`: the share of the sixty, and of the thirty, that get an answer at all.

Shares have bootstrapped 95% intervals. `--half held` asks as many other questions of other documents, which
no choice was made on. `--details FILE` keeps each answer, and a run with the same file goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.reading import QUESTIONS
from benchmarks.results_files import output_option, save, table
from citewell.core.events import final_answer
from citewell.core.row_log import RowLog
from citewell.core.settings import Settings, load_settings
from citewell.core.significance import interval
from citewell.core.text import words
from citewell.core.types import Answer, Reference
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.dense import dense_indexing
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source

_COLLECTION = "own-documents"
_HELD = 0.9  # the share of the evidence's words that a reference holds
_FOUND = (1, 3, 5)
_TAG = re.compile(r"<[^>]+>")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=("dev", "held"), default="dev")
    parser.add_argument("--generators", default="extractive", help="comma-separated")
    parser.add_argument("--limit", type=int, help="maximum questions of each kind")
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--details", type=Path, help="file of the answers")
    output_option(parser)
    arguments = parser.parse_args()
    flags: dict[str, Any] = dict(assignment.split("=", 1) for assignment in arguments.assignments)
    results = {}
    with tempfile.TemporaryDirectory() as temporary:
        details = arguments.details or Path(temporary) / "details.jsonl"
        for name in arguments.generators.split(","):
            where = {"data_dir": Path(temporary), "search.collection": _COLLECTION, "generator.name": name}
            settings = load_settings(where | flags)
            asked = questions(arguments.half, arguments.limit)
            index(settings, arguments.half)
            asyncio.run(ask(settings, asked, details))
            results[name] = summary([row for row in RowLog(details).rows if row["generator"] == name])
    save(f"own_documents_{arguments.half}", {"half": arguments.half, "generators": results}, arguments.output)
    columns = list(next(iter(results.values())))
    print(table(["generator", *columns], [[n, *(_shown(r[c]) for c in columns)] for n, r in results.items()]))


def questions(half: str, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the questions of a half, at most `limit` that are answered and as many others."""
    lines = (QUESTIONS / "own" / half / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    kinds = ([row for row in rows if row["answerable"] is answerable] for answerable in (True, False))
    return [row for kind in kinds for row in kind[:limit]]


def index(settings: Settings, half: str) -> None:
    """Index the documents of a half."""
    with (
        indexing(EmbeddedCatalog(settings.data_dir), _COLLECTION) as indexer,
        dense_indexing(indexer.store, settings, dense=None) as encode,
    ):
        index_documents(indexer, _COLLECTION, read_source(QUESTIONS / "own" / half / "documents"))
        encode()


async def ask(settings: Settings, asked: Sequence[dict[str, Any]], details: Path) -> None:
    """Append the answer to each question that has none yet to the details."""
    name = settings.generator.name
    log = RowLog(details)
    known = {row["question"] for row in log.rows if row["generator"] == name}
    missing = [row for row in asked if row["question"] not in known]
    async with open_pipeline(settings) as pipeline:
        for number, row in enumerate(missing, 1):
            found = measured(row, await final_answer(pipeline.ask(row["question"])))
            log.append({"generator": name} | found)
            if number % 10 == 0:
                print(f"{name}: {number} of {len(missing)}", flush=True)


def measured(row: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """Return what became of a question."""
    text = answer.answer if answer.outcome == "answered" else ""
    shown = "\n".join((text, *(each.text for each in answer.quotations))).lower()
    must = [part.lower() for part in row.get("must", ())]
    return {
        "question": row["question"],
        "answerable": row["answerable"],
        "answered": bool(text),
        "right": any(part in text.lower() for part in must),
        "told": any(part in shown for part in must),
        "place": next((r.number for r in answer.references if holds(r, row)), None),
        "outcome": answer.outcome,
        "fallback": answer.fallback,
        "answer": text,
        "written": answer.candidates[answer.best].raw if answer.candidates else "",
        "support": [each.support for each in answer.candidates[answer.best].sentences]
        if answer.candidates
        else [],
    }


def holds(reference: Reference, row: dict[str, Any]) -> bool:
    """Return whether a reference holds the last line of the evidence, below its heading."""
    if not row["answerable"] or not reference.url.endswith(row["document"]):
        return False
    wanted = set(words(_TAG.sub(" ", row["evidence"].splitlines()[-1])))
    return len(wanted & set(words(reference.text))) >= _HELD * len(wanted)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the shares of one generator, each with its interval."""
    answerable = [row for row in rows if row["answerable"]]
    found = {
        f"found @{k}": [row["place"] is not None and row["place"] <= k for row in answerable] for k in _FOUND
    }
    values = found | {
        "right": [row["right"] for row in answerable],
        "told": [row["told"] for row in answerable],
        "answered": [row["answered"] for row in answerable],
        "answered, unanswerable": [row["answered"] for row in rows if not row["answerable"]],
    }
    return {name: _share(each) for name, each in values.items()}


def _share(values: Sequence[bool]) -> dict[str, float]:
    low, high = interval({str(place): float(value) for place, value in enumerate(values)})
    return {"value": sum(values) / len(values), "low": low, "high": high, "questions": len(values)}


def _shown(share: dict[str, float]) -> str:
    return f"{share['value']:.3f} ({share['low']:.3f} to {share['high']:.3f})"


if __name__ == "__main__":
    main()
