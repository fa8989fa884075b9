"""Measure how often the sentence that answers comes first: by words, by the encoder, and with a reader.

`python -m benchmarks.answer_sentences` orders the sentences that people labeled for a question, and prints
precision at 1 and the mean reciprocal rank of the first sentence that answers, with bootstrapped 95%
intervals and paired tests against the encoder alone. Sets:

- `qed`: the sentences of one paragraph, for the questions that Citewell's defaults are chosen on;
- `covid`: experts' questions, and the sentences around the answer in an article;
- `clapnq`: sentences that people chose from a passage for a long answer;
- `finance`: answers of people to a question, among those to similar questions (LFRQA).

Readers are not trained on any of these questions, and on the last three kinds of text not at all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.jsonl import read_lines
from citewell.core.settings import load_settings
from citewell.core.significance import compare_all, differences_table, interval
from citewell.core.text import content_words
from citewell.core.training.sources import question_key, sample
from citewell.retriever.answer_reader import load_answer_reader
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.rank import Ranker
from citewell.retriever.training.labels.candidates import candidate_rows
from citewell.retriever.training.labels.sentences import sentence_rows
from citewell.retriever.training.rows import LabeledRow

Score = Callable[[str, Sequence[str]], NDArray[np.floating[Any]]]
QED_DEV = Path(__file__).parent.parent / "recipes" / "qed-dev.jsonl"
BASELINE = "encoder"
MEASURES = ("P@1", "MRR")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", help="name or folder of a reader; by default that of the settings")
    parser.add_argument("--limit", type=int, default=300, help="max questions per set")
    output_option(parser)
    arguments = parser.parse_args()
    settings = load_settings({"retriever.reader": arguments.reader} if arguments.reader else {})
    encoder = load_encoder(settings.retriever.encoder, settings.cache_dir, threads=settings.threads)
    relevance = Ranker(encoder, prefilter=1).scores
    reader = load_answer_reader(settings)
    systems: dict[str, Score] = {BASELINE: relevance, "words": shared_words}
    if reader is not None:
        systems |= {
            "reader": reader.model.scores,
            "encoder and reader": partial(reader.scores, relevance=relevance),
        }
    report: dict[str, Any] = {}
    rows, tests = [], {}
    for name, questions in read_sets(arguments.limit).items():
        found = {system: measured(score, questions) for system, score in systems.items()}
        report[name] = {"questions": len(questions)} | {
            system: {measure: figure(values[measure]) for measure in values}
            for system, values in found.items()
        }
        rows += [
            [f"{name} ({len(questions)})", system, *(shown(values[measure]) for measure in MEASURES)]
            + [f"{np.median(list(values['seconds'].values())):.3f}"]
            for system, values in found.items()
        ]
        others = {system: values["P@1"] for system, values in found.items() if system != BASELINE}
        tests[f"{name}, P@1"] = compare_all(others, found[BASELINE]["P@1"])
        print(f"{name}: done", flush=True)
    print(table(["set", "system", *MEASURES, "seconds"], rows))
    print(f"\nAgainst the encoder:\n\n{differences_table(tests)}")
    save("answer_sentences", {"reader": settings.retriever.reader, "sets": report}, arguments.output)


def read_sets(limit: int) -> dict[str, tuple[LabeledRow, ...]]:
    """Return at most `limit` questions of each set."""
    data = external_data()
    dev = {question_key(line.row()["question"]) for line in read_lines(QED_DEV)}
    qed = sentence_rows([data / "qa_pairs" / "qed_train.jsonl.gz"])
    folder = data / "answer_sentence"
    finance = candidate_rows(folder / "lfrqa_groups.jsonl.gz", {})
    fields = (line.row() for line in read_lines(folder / "lfrqa_groups.jsonl.gz"))
    of_finance = {question_key(row["question"]) for row in fields if row["domain"] == "fiqa"}
    sets = {
        "qed": [row for row in qed if question_key(row.question) in dev and any(row.targets)],
        "covid": candidate_rows(folder / "covid_qa.jsonl.gz", {}),
        "clapnq": candidate_rows(folder / "clapnq_dev.jsonl.gz", {}),
        "finance": [row for row in finance if question_key(row.question) in of_finance],
    }
    return {name: sample(rows, limit, name) for name, rows in sets.items()}


def shared_words(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the share of the question's content words that each text has."""
    asked = set(content_words(question))
    return np.array([len(asked & set(content_words(text))) / max(1, len(asked)) for text in texts])


def measured(score: Score, rows: Sequence[LabeledRow]) -> dict[str, dict[str, float]]:
    """Return the measures and the seconds of each question; of equal scores, the last text comes first."""
    found: dict[str, dict[str, float]] = {"P@1": {}, "MRR": {}, "seconds": {}}
    for number, row in enumerate(rows):
        start = time.perf_counter()
        scores = score(row.question, row.passages)
        seconds = time.perf_counter() - start
        order = np.argsort(scores[::-1], kind="stable")[::-1]
        targets = np.array(row.targets)[::-1][order]
        first = int(np.argmax(targets > 0))
        for name, value in (("P@1", float(first == 0)), ("MRR", 1 / (first + 1)), ("seconds", seconds)):
            found[name][str(number)] = value
    return found


def figure(values: dict[str, float]) -> list[float]:
    """Return the mean with its interval."""
    return [round(number, 3) for number in (float(np.mean(list(values.values()))), *interval(values))]


def shown(values: dict[str, float]) -> str:
    """Return the mean with its interval as text."""
    mean, low, high = figure(values)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
