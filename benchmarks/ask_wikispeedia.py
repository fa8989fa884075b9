"""Measure recall of the right articles and latency of answers, on Wikipedia for Schools (4,598 articles).

`python -m benchmarks.ask_wikispeedia` indexes `CITEWELL_DATA/web/wikispeedia` from scratch, asks the
project's own questions and those of `CITEWELL_DATA/questions` that the collection covers, and times warm and
cold answers. `--split dev` asks the questions that the defaults were chosen on (QED) instead.

`citewell.pipeline.evaluation.coverage` says which articles are right for a question with a short answer.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results_files import external_data, output_option, quantiles, save, table
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Page
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.evaluation.coverage import PassageSearch, stored_pages
from citewell.pipeline.fetching import sandbox_limits
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source

COLLECTION = "wikispeedia"
TRIAL = 10
"""At most this many questions are a trial of a benchmark: few rows are checked for questions, then."""
_ROWS_PER_TRIAL = 100
OWN_QUESTIONS = Path(__file__).parent / "questions" / "wikispeedia.jsonl"
SETS = {"test": ("nq400", "webq400", "nq_open"), "dev": ("qed_train",)}


class ArticleQuestion(NamedTuple):
    """A question, the URLs of its right articles, and its source."""

    text: str
    right: frozenset[str]
    origin: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--split", choices=list(SETS), default="test")
    parser.add_argument("--limit", type=int, default=300, help="maximum covered questions per set")
    parser.add_argument("--generated", type=int, default=15, help="answers for the local model to write")
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="NAME=VALUE")
    output_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = arguments.data_dir or Path(temporary)
        flags: dict[str, Any] = dict(assignment.split("=", 1) for assignment in arguments.assignments)
        settings = load_settings({"data_dir": data_dir, "search.collection": COLLECTION} | flags)
        result: dict[str, Any] = {"split": arguments.split, "settings": flags}
        result["index"] = build_index(settings)
        pages = list(stored_pages(settings))
        questions, asked = covered_questions(pages, arguments.split, arguments.limit)
        result["asked"] = asked
        result["recall"], result["references_seconds"] = asyncio.run(measure_recall(settings, questions))
        if arguments.split == "test":
            own = [question for question in questions if question.origin == "own"]
            result |= asyncio.run(measure_answers(settings, own, arguments.generated))
            result |= measure_cold(settings)
        show(result)
        save("ask_wikispeedia" + ("_dev" if arguments.split == "dev" else ""), result, arguments.output)


def build_index(settings: Settings) -> dict[str, float]:
    """Index all articles; return the seconds for a first run and for a second run without changes."""
    folder = external_data() / "web" / "wikispeedia"
    seconds = {}
    for run in ("first", "again"):
        before = time.perf_counter()
        documents = (d for file in sorted(folder.glob("articles-*.jsonl.gz")) for d in read_source(file))
        with indexing(EmbeddedCatalog(settings.data_dir), COLLECTION) as indexer:
            report = index_documents(indexer, str(folder), documents, sandbox=sandbox_limits(settings))
        seconds[run] = round(time.perf_counter() - before, 1)
    return seconds | {"pages": report.unchanged, "failures": len(report.failures)}


def covered_questions(
    pages: list[Page], split: str, limit: int
) -> tuple[list[ArticleQuestion], dict[str, dict[str, int]]]:
    """Return the questions that the articles can answer, and per set the covered and total numbers."""
    by_title: dict[str, str] = {page.title: page.url for page in pages}
    questions: list[ArticleQuestion] = []
    asked: dict[str, dict[str, int]] = {}
    if split == "test":
        own = map(json.loads, OWN_QUESTIONS.read_text(encoding="utf-8").splitlines())
        questions = [
            ArticleQuestion(row["question"], frozenset(by_title[title] for title in row["articles"]), "own")
            for row in own
        ]
        asked["own"] = {"questions": len(questions), "covered": len(questions)}
        questions = questions[:limit]
    passages = PassageSearch(pages)
    for name in SETS[split]:
        rows = list(read_rows(name))
        if limit <= TRIAL:
            rows = rows[: _ROWS_PER_TRIAL * limit]
        covered = [
            ArticleQuestion(row["question"], right, name)
            for row in rows
            if (right := passages.right_articles(row["question"], row["answer"]))
        ]
        asked[name] = {"questions": len(rows), "covered": len(covered)}
        questions += random.Random(0).sample(covered, min(limit, len(covered)))
    return questions, asked


def read_rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a question set that have short answers."""
    folder = external_data() / ("qa_pairs" if name.startswith("qed") else "questions")
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (row for line in lines if (row := json.loads(line)).get("answer"))


async def measure_recall(
    settings: Settings, questions: list[ArticleQuestion]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return per set the share of questions with a right article among the references, and the seconds."""
    hits: dict[str, list[bool]] = defaultdict(list)
    best: dict[str, list[bool]] = defaultdict(list)
    refused: dict[str, list[bool]] = defaultdict(list)
    seconds = []
    async with open_pipeline(settings) as pipeline:
        await final_answer(pipeline.retrieve(questions[0].text))  # warm
        for question in questions:
            before = time.perf_counter()
            answer = await final_answer(pipeline.retrieve(question.text))
            seconds.append(time.perf_counter() - before)
            urls = [reference.url for reference in answer.references]
            hits[question.origin].append(bool(question.right.intersection(urls)))
            best[question.origin].append(bool(question.right.intersection(urls[:1])))
            refused[question.origin].append(answer.outcome == "no_evidence")
    recall = {
        origin: {
            "questions": len(values),
            "right_article_among_references": share(values),
            "right_article_first": share(best[origin]),
            "no_evidence": share(refused[origin]),
        }
        for origin, values in hits.items()
    }
    everything = [value for values in hits.values() for value in values]
    recall["all"] = {"questions": len(everything), "right_article_among_references": share(everything)}
    return recall, quantiles(seconds)


async def measure_answers(
    settings: Settings, questions: list[ArticleQuestion], generated: int
) -> dict[str, Any]:
    """Return the seconds of warm answers, quoted and written by the local model."""
    result: dict[str, Any] = {}
    for name, number in (("extractive", len(questions)), ("SmolLM2-135M-Instruct", generated)):
        if not number:
            continue
        own = settings.model_copy(update={"generator": settings.generator.model_copy(update={"name": name})})
        async with open_pipeline(own) as pipeline:
            await final_answer(pipeline.ask(questions[0].text))  # warm
            answers = [await final_answer(pipeline.ask(question.text)) for question in questions[:number]]
        answered = [answer for answer in answers if answer.outcome == "answered"]
        result[f"answer_seconds_{name}"] = quantiles([a.timings["total"] for a in answers]) | {
            "answers": len(answers),
            "answered": len(answered),
        }
    return result


def measure_cold(settings: Settings) -> dict[str, Any]:
    """Time fresh processes: seconds of the best and worst of five, and the peak memory of each kind."""
    citewell = str(Path(sys.executable).with_name("citewell"))
    asked = ["How do volcanoes form?", "--collection", COLLECTION, "--set", f"data_dir={settings.data_dir}"]
    written = ["--generator", "SmolLM2-135M-Instruct", "--best-of", "4"]
    commands = {
        "help": [citewell, "--help"],
        "cold_references": [citewell, "retrieve", *asked],
        "cold_answer": [citewell, "ask", *asked],
        "cold_written_best_of_4": [citewell, "ask", *asked, *written],
    }
    result = {}
    for name, command in commands.items():
        runs = [run_cold(command) for _ in range(5)]
        seconds = [run.seconds for run in runs]
        result[f"{name}_seconds"] = {"min": min(seconds), "max": max(seconds)}
        result[f"peak_mb_{name}"] = {"max": max(run.peak_mb for run in runs)}
    return result


class ColdRun(NamedTuple):
    """The time and memory of a separate process."""

    seconds: float
    peak_mb: float


# A child process inherits the memory count of its parent, so a small process is put between them.
LAUNCHER = """
import json, resource, subprocess, sys, time
before = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
seconds = time.perf_counter() - before
print(json.dumps([round(seconds, 3), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))
"""


def run_cold(command: list[str]) -> ColdRun:
    """Run a command to its end; raises `CalledProcessError` if it fails."""
    launched = subprocess.run([sys.executable, "-c", LAUNCHER, *command], check=True, stdout=subprocess.PIPE)
    seconds, peak = json.loads(launched.stdout)
    return ColdRun(seconds, round(peak, 1))


def share(values: list[bool]) -> float:
    """Return the share of True."""
    return round(sum(values) / max(1, len(values)), 3)


def show(result: dict[str, Any]) -> None:
    """Print the result as tables."""
    index = result["index"]
    print(
        f"Indexed {index['pages']:,} articles in {index['first']} s; again, unchanged: {index['again']} s.\n"
    )
    rows = []
    for origin, numbers in result["recall"].items():
        asked = result["asked"].get(origin, {})
        rows.append(
            [origin, asked.get("questions", ""), asked.get("covered", ""), numbers["questions"]]
            + [
                numbers.get(key, "")
                for key in ("right_article_among_references", "right_article_first", "no_evidence")
            ]
        )
    header = [
        "set",
        "questions",
        "covered",
        "asked",
        "right article among 5",
        "right article first",
        "no evidence",
    ]
    print(table(header, rows) + "\n")
    for name, value in result.items():
        if name.endswith("seconds") or name.startswith(("answer_", "peak")):
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
