"""When is the best passage good enough to answer from? Scores of questions with and without an answer.

`python -m benchmarks.no_evidence` asks three kinds of questions of Wikipedia for Schools (2007) and reports,
for each threshold, how many would be answered: questions on an article of the collection (QED, should be
answered), questions about COVID-19 (feedbackqa, 2020: cannot be) and about diseases and drugs
(MedQuAD: mostly cannot be). These are training data; the default threshold was chosen on them.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import tempfile
from pathlib import Path

from benchmarks.ask_wikispeedia import build_index, covered_questions, retrieve, stored_pages
from benchmarks.report import external_data, save, table
from core.settings import RetrieverSettings, Settings, load_settings
from pipeline.build import open_pipeline

THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="where the collection is kept; temporary by default")
    parser.add_argument("--limit", type=int, default=100, help="questions of each kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = arguments.data_dir or Path(temporary)
        settings = load_settings({"data_dir": data_dir, "search.collection": "wikispeedia"})
        build_index(settings)
        scores = asyncio.run(best_scores(settings, read_questions(settings, arguments.limit)))
    default = RetrieverSettings().min_relevance
    rows = []
    for threshold in THRESHOLDS:
        shares = [round(sum(s >= threshold for s in values) / len(values), 2) for values in scores.values()]
        rows.append([f"{threshold}{' (default)' if threshold == default else ''}", *shares])
    print(table(["threshold", *(f"{kind} ({len(values)})" for kind, values in scores.items())], rows))
    save("no_evidence", {"answered": {str(row[0]): dict(zip(scores, row[1:], strict=True)) for row in rows}})


def read_questions(settings: Settings, limit: int) -> dict[str, list[str]]:
    """The questions of each kind."""
    covered, _ = covered_questions(list(stored_pages(settings)), "dev", limit)
    questions = {"covered": [question.text for question in covered]}
    for kind, name in (("COVID-19", "feedbackqa_train"), ("medicine", "medquad")):
        with gzip.open(external_data() / "qa_pairs" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["question"] for line in lines]
        questions[kind] = random.Random(0).sample(texts, limit)
    return questions


async def best_scores(settings: Settings, questions: dict[str, list[str]]) -> dict[str, list[float]]:
    """The score of each question's best reference; -1 where there is none."""
    scores: dict[str, list[float]] = {kind: [] for kind in questions}
    async with open_pipeline(settings) as pipeline:
        for kind, texts in questions.items():
            for text in texts:
                answer = await retrieve(pipeline, text)
                scores[kind].append(max((reference.score for reference in answer.references), default=-1.0))
    return scores


if __name__ == "__main__":
    main()
