"""The questions that a teacher may be asked, by source, with the passages that they were asked about.

Each function yields {id, question, references, license} per row of a file in CITEWELL_DATA that trains, never
one that evaluates. `OWN` bring the passage that answers; of `COVERED`, Wikipedia for Schools must have an
article about something that the question names.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.reference_set import SHARES, split
from benchmarks.reference_set import read as read_pairs
from citewell.core.text import squeeze, words

Row = dict[str, Any]
Read = Callable[[Path], Iterator[Row]]

_PASSAGES = 5
_MOST_WORDS = 4  # of an article's title in a question
_FEWEST_LETTERS = 4
_DOMAIN = "science"


def pairs(name: str, data: Path) -> Iterator[Row]:
    """Yield questions with the passage that answers, except about topics of the dev and test references.

    `benchmarks.reference_set` divides the same files by topic, and encoders are compared on its parts.
    """
    parts = split(list(read_pairs(name, data)), SHARES[name])
    held = {passage.title for part in ("dev", "test") for passage in parts[part].passages}
    for row in read_rows(data / "qa_pairs" / f"{name}.jsonl.gz"):
        if row["positive"] and row["positive"][0]["title"] not in held:
            yield _row(row, row["positive"])


def asqa(data: Path) -> Iterator[Row]:
    """Yield questions with their passages of Wikipedia."""
    for row in read_rows(data / "longform_cited" / "asqa_gold_dev.jsonl.gz"):
        yield _row(row, row["passages"], "Apache-2.0; text CC BY-SA 3.0")


def quotesum(data: Path) -> Iterator[Row]:
    """Yield questions with the passages of several pages."""
    for row in read_rows(data / "longform_cited" / "quotesum_dev.jsonl.gz"):
        yield _row(row, row["passages"], "CC BY-SA 4.0")


def squad_train(data: Path) -> Iterator[Row]:
    """Yield questions about Wikipedia whose paragraph is not here; their references are left to retrieval."""
    for row in read_rows(data / "answer_sentence" / "squad_train_du_test.jsonl.gz"):
        yield _row(row, [], "CC BY-SA 4.0")


def lfrqa(data: Path) -> Iterator[Row]:
    """Yield questions about science that people asked on forums; their references are left to retrieval."""
    for row in read_rows(data / "longform_cited" / "lfrqa.jsonl.gz"):
        if row["domain"] == _DOMAIN:
            yield _row(row, [], "Apache-2.0; posts CC BY-SA")


OWN: Mapping[str, Read] = {
    "squad": partial(pairs, "squad_dev"),
    "qed": partial(pairs, "qed_train"),
    "asqa": asqa,
    "quotesum": quotesum,
}
COVERED: Mapping[str, Read] = {
    "squad_train": squad_train,
    "medquad": partial(pairs, "medquad"),
    "lfrqa": lfrqa,
}


def article_titles(data: Path) -> frozenset[str]:
    """Return the titles of the articles of Wikipedia for Schools, without what is in brackets."""
    files = sorted((data / "web" / "wikispeedia").glob("articles-*.jsonl.gz"))
    titles = (_plain(row["title"].partition(" (")[0]) for file in files for row in read_rows(file))
    return frozenset(title for title in titles if len(title) >= _FEWEST_LETTERS)


def is_covered(question: str, titles: frozenset[str]) -> bool:
    """Return whether a question names the subject of an article, also in the plural."""
    asked = _plain(question).split()
    return any(
        " ".join(asked[first : first + length]) in titles
        for length in range(1, _MOST_WORDS + 1)
        for first in range(len(asked) - length + 1)
    )


def read_rows(file: Path) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines, plain or gzipped."""
    with (
        gzip.open(file, "rt", encoding="utf-8")
        if file.suffix == ".gz"
        else file.open(encoding="utf-8") as lines
    ):
        yield from map(json.loads, lines)


def _row(row: Row, references: Sequence[Mapping[str, Any]], terms: str = "") -> Row:
    passages = [
        {"text": text, "title": each.get("title") or "", "url": each.get("url") or ""}
        for each in references[:_PASSAGES]
        if (text := squeeze(each.get("text") or ""))
    ]
    return {
        "id": str(row["id"]), "question": squeeze(row["question"]), "references": passages,
        "license": row.get("license") or terms,
    }  # fmt: skip


def _plain(text: str) -> str:
    """Return the words of a text in lower case, each without a plural's s."""
    return " ".join(word.removesuffix("s") for word in words(text))
