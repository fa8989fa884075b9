"""Measure questions that need more than one search, or have a misspelled name, on Wikipedia for Schools.

`python -m benchmarks.hard_questions` asks our own questions of `benchmarks/questions/hard.jsonl`:
comparisons, two questions in one, and misspelled names. Each part has its article. The questions are asked as
Citewell does, by parts and with corrected spelling, and as they are. For each kind, it prints the share of
articles among the five references, of questions with all of their articles, and of refusals, and the seconds
to references.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.ask_wikispeedia import COLLECTION, build_index
from benchmarks.results_files import output_option, quantiles, save, table
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Page
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.pipeline import Pipeline
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.search.provider import PageSource

QUESTIONS = Path(__file__).parent / "questions" / "hard.jsonl"


class StoredPages:
    """The pages of a collection, without the spelling of its words."""

    def __init__(self, pages: PageSource) -> None:
        self._pages = pages

    def count(self) -> int:
        """Return the number of pages."""
        return self._pages.count()

    def urls(self) -> Sequence[str]:
        """Return the URLs of all pages."""
        return self._pages.urls()

    def page(self, url: str) -> Page | None:
        """Return the page at `url`."""
        return self._pages.page(url)

    def vectors(self, page: Page) -> Vectors | None:
        """Return the vectors of the page."""
        return self._pages.vectors(page)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--limit", type=int, help="maximum questions per kind")
    output_option(parser)
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = arguments.data_dir or Path(temporary)
        settings = load_settings({"data_dir": data_dir, "search.collection": COLLECTION})
        if not arguments.data_dir:
            build_index(settings)
        result = asyncio.run(measure(settings, limited(rows, arguments.limit)))
    lines = [[kind, *values.values()] for kind, values in result.items()]
    print(table(["questions", *next(iter(result.values()))], lines))
    save("hard_questions", result, arguments.output)


def limited(rows: list[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """Return the first `limit` questions of each kind."""
    kinds = dict.fromkeys(row["kind"] for row in rows)
    return [row for kind in kinds for row in [row for row in rows if row["kind"] == kind][:limit]]


async def measure(settings: Settings, rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Ask all questions in both ways."""
    async with open_pipeline(settings) as pipeline:
        assert pipeline.search.pages is not None
        search = replace(pipeline.search, pages=StoredPages(pipeline.search.pages))
        ways = {"": pipeline, ", as they are": replace(pipeline, search=search, split=lambda text: (text,))}
        return {
            kind + name: found
            for name, way in ways.items()
            for kind, found in (await _ask(way, rows)).items()
        }


async def _ask(pipeline: Pipeline, rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    found: dict[str, list[list[bool]]] = defaultdict(list)
    refused: dict[str, list[bool]] = defaultdict(list)
    seconds: dict[str, list[float]] = defaultdict(list)
    await final_answer(pipeline.retrieve(rows[0]["question"]))  # warm
    for row in rows:
        before = time.perf_counter()
        answer = await final_answer(pipeline.retrieve(row["question"]))
        seconds[row["kind"]].append(time.perf_counter() - before)
        titles = {reference.title for reference in answer.references}
        found[row["kind"]].append([title in titles for title in row["articles"]])
        refused[row["kind"]].append(answer.outcome == "no_evidence")
    return {
        kind: {
            "number": len(of_kind),
            "articles": _share([hit for hits in of_kind for hit in hits]),
            "all articles": _share([all(hits) for hits in of_kind]),
            "refused": _share(refused[kind]),
            "seconds": quantiles(seconds[kind])["p50"],
        }
        for kind, of_kind in found.items()
    }


def _share(values: list[bool]) -> float:
    return round(sum(values) / len(values), 3)


if __name__ == "__main__":
    main()
