"""Measure when the passages are good enough to answer from, on questions with and without an answer.

`python -m benchmarks.no_evidence` asks Wikipedia for Schools (2007) three kinds of questions: on an article
of the collection (QED, should be answered), about COVID-19 (feedbackqa, 2020: cannot be) and about diseases
and drugs (MedQuAD: mostly cannot be). It asks the handbook of Citewell 50 questions on Citewell, and a folder
of notes the 20 questions of `benchmarks.reading`, which should be answered, and both those of the two other
kinds, which cannot be. For each threshold, it reports how many would be answered by the encoder's best score
alone, by the evidence (`citewell.retriever.evidence`), which counts the question's words too, and by the
evidence for a quoted answer, which counts the best sentence; last, by the default for quoted answers, whose
threshold depends on the number of pages. Rules and thresholds were chosen on these questions, which are
training data and some of our own, and on the dev half of `benchmarks.own_documents`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.ask_wikispeedia import build_index, covered_questions
from benchmarks.reading import NOTES, QUESTIONS, prepare
from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Answer
from citewell.generator.extractive import ExtractiveGenerator
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.evaluation.coverage import stored_pages
from citewell.retriever.evidence import NOTHING, evidence, evidence_to_quote

THRESHOLDS = (0.3, 0.4, 0.5, 0.6)
HANDBOOK_QUESTIONS = QUESTIONS / "handbook.jsonl"
READING_QUESTIONS = QUESTIONS / "reading.jsonl"
QUOTING = {"generator.name": "extractive"}
ELSEWHERE = {"COVID-19": "feedbackqa_train", "medicine": "medquad"}


class Retrieved(NamedTuple):
    """What was found for a question: its references, and the score of their best sentence."""

    answer: Answer
    sentence: float

    @property
    def evidence(self) -> float:
        """The evidence of the references."""
        return evidence(self.answer.question, self.answer.references)


RULES: Mapping[str, Callable[[Retrieved], float]] = {
    "score": lambda found: max((of.score for of in found.answer.references), default=NOTHING),
    "evidence": lambda found: found.evidence,
    "evidence to quote": lambda found: evidence_to_quote(found.evidence, found.sentence),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collections; temporary by default")
    parser.add_argument("--limit", type=int, default=100, help="questions of each kind")
    output_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = arguments.data_dir or Path(temporary)
        schools = load_settings({"data_dir": data_dir, "search.collection": "wikispeedia"} | QUOTING)
        build_index(schools)
        covered, _ = covered_questions(list(stored_pages(schools)), "dev", arguments.limit)
        elsewhere = {kind: sample(name, arguments.limit) for kind, name in ELSEWHERE.items()}
        answers = asyncio.run(
            ask_all(schools, {"covered": [question.text for question in covered]} | elsewhere)
        )
        for name, questions in (("handbook", own_questions()), (NOTES, read_questions(NOTES))):
            settings = load_settings({"data_dir": data_dir, "search.collection": name} | QUOTING)
            prepare(settings)
            asked = {name: questions} | {f"{name}: {kind}": given for kind, given in elsewhere.items()}
            answers |= asyncio.run(ask_all(settings, asked))
    rows, passed = [], {}
    for name, rule in RULES.items():
        values = {kind: [rule(found) for found in given] for kind, given in answers.items()}
        for threshold in THRESHOLDS:
            shares = [
                round(sum(v >= threshold for v in of_kind) / len(of_kind), 2) for of_kind in values.values()
            ]
            rows.append([f"{name} {threshold}", *shares])
            passed[f"{name} {threshold}"] = dict(zip(values, shares, strict=True))
    by_size = {
        kind: round(sum(found.answer.outcome == "retrieved" for found in given) / len(given), 2)
        for kind, given in answers.items()
    }
    rows.append(["evidence to quote, by the number of pages (default)", *by_size.values()])
    passed["default"] = by_size
    print(table(["threshold", *(f"{kind} ({len(given)})" for kind, given in answers.items())], rows))
    save("no_evidence", {"answered": passed}, arguments.output)


def sample(name: str, limit: int) -> list[str]:
    """Draw a fixed sample of questions from a file of `qa_pairs`."""
    with gzip.open(external_data() / "qa_pairs" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return random.Random(0).sample([json.loads(line)["question"] for line in lines], limit)


def read_questions(collection: str) -> list[str]:
    """Return the questions of `benchmarks.reading` in a collection."""
    rows = map(json.loads, READING_QUESTIONS.read_text("utf-8").splitlines())
    return [row["question"] for row in rows if row["collection"] == collection]


def own_questions() -> list[str]:
    """Return questions that the handbook answers."""
    return [json.loads(line)["question"] for line in HANDBOOK_QUESTIONS.read_text("utf-8").splitlines()]


async def ask_all(settings: Settings, questions: Mapping[str, Sequence[str]]) -> dict[str, list[Retrieved]]:
    """Return the references of each question, and the score of the sentence that would be quoted first."""
    async with open_pipeline(settings) as pipeline:
        assert isinstance(pipeline.generator, ExtractiveGenerator)
        score, answers = pipeline.generator.best_score, {}
        for kind, texts in questions.items():
            found = [await final_answer(pipeline.retrieve(text)) for text in texts]
            answers[kind] = [Retrieved(each, score(each.question, each.references)) for each in found]
            print(f"{kind}: {len(texts)} asked", flush=True)
        return answers


if __name__ == "__main__":
    main()
