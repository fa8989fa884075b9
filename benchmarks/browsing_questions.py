"""The questions of the browsing benchmark: those with short answers that the articles of the web can answer.

    python -m benchmarks.browsing_questions --data-dir FOLDER --out QUESTIONS

writes `train.jsonl` and `held_out.jsonl` (QED and SQuAD: demonstrations, and early stopping), `dev.jsonl` and
`test.jsonl` (NQ-open and WebQuestions, in halves by a hash): lines of {"question", "answers", "origin"}.
`ask_wikispeedia` decides whether the articles can answer a question. Training questions that are near one of
the others are skipped.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.browse_web import browse_settings, index_web
from benchmarks.results_files import external_data, table
from citewell.core.near_duplicates import NearDuplicates
from citewell.core.text import words
from citewell.pipeline.evaluation.coverage import PassageSearch, stored_pages

LEARNED = ("qa_pairs/qed_train", "qa_pairs/squad_dev")
ASKED = ("questions/nq400", "questions/webq400", "questions/nq_open")
LEARNED_COVERING, ASKED_COVERING = 0.6, 0.75
"""Minimum coverage of a question by an article with an answer; see `PassageSearch`."""
NEAR = 0.7
HELD_OUT = 0.04  # of the questions to learn from, as WebGPT holds demonstrations out (§3.2)


class BrowsingSetQuestion(NamedTuple):
    """A question, its accepted answers, and its source."""

    question: str
    answers: tuple[str, ...]
    origin: str


def main() -> None:
    """Write the questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--out", type=Path, required=True, help="folder for the questions")
    parser.add_argument("--limit", type=int, help="questions to consider per set [all]")
    arguments = parser.parse_args()
    settings = browse_settings(arguments.data_dir)
    index_web(settings)
    passages = PassageSearch(stored_pages(settings))
    limit = arguments.limit
    splits = divided(
        [row for name in LEARNED for row in covered(passages, name, LEARNED_COVERING, limit)],
        [row for name in ASKED for row in covered(passages, name, ASKED_COVERING, limit)],
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, rows in splits.items():
        lines = "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in rows)
        (arguments.out / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    print(table(["split", "questions"], [[name, len(rows)] for name, rows in splits.items()]))


def covered(
    passages: PassageSearch, name: str, least: float, limit: int | None = None
) -> Iterator[BrowsingSetQuestion]:
    """Yield the questions of a set that the articles cover to this degree, with an answer."""
    with gzip.open(external_data() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row.get("answer")]
    for row in rows[:limit]:
        if passages.covering(row["question"], row["answer"]) >= least:
            yield BrowsingSetQuestion(row["question"], tuple(row["answer"]), name.split("/")[1])


def divided(
    learned: Sequence[BrowsingSetQuestion], asked: Sequence[BrowsingSetQuestion]
) -> dict[str, list[BrowsingSetQuestion]]:
    """Return the splits by name, with each question once."""
    asked = list({_key(row.question): row for row in reversed(asked)}.values())
    learned = list({_key(row.question): row for row in apart(learned, asked)}.values())
    return {
        "train": [row for row in learned if point(row.question) >= HELD_OUT],
        "held_out": [row for row in learned if point(row.question) < HELD_OUT],
        "dev": [row for row in asked if point(row.question) < 1 / 2],
        "test": [row for row in asked if point(row.question) >= 1 / 2],
    }


def apart(
    learned: Sequence[BrowsingSetQuestion], asked: Sequence[BrowsingSetQuestion]
) -> list[BrowsingSetQuestion]:
    """Remove training questions that are near an evaluation question."""
    index = NearDuplicates([row.question for row in asked], NEAR)
    return [row for row in learned if not index.near(row.question)]


def point(question: str) -> float:
    """Return a number from 0 to 1 that assigns a question to a split."""
    return int.from_bytes(hashlib.sha256(f"browsing {_key(question)}".encode()).digest()[:8]) / 2**64


def _key(question: str) -> str:
    return " ".join(words(question))


if __name__ == "__main__":
    main()
