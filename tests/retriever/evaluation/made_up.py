"""A small task that tests write, and an encoder that needs no weights."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citewell.core.text import content_words
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.scale import Scale

DOCUMENTS = (
    {"_id": "bats", "title": "Bats", "text": "Bats find their way in the dark by listening to echoes."},
    {"_id": "bread", "title": "", "text": "Sourdough rises because wild yeast makes carbon dioxide."},
    {"_id": "tides", "title": "Tides", "text": "The gravity of the Moon causes the tides of the sea."},
    {"_id": "moon", "title": "The Moon", "text": "The Moon turns around the Earth once a month."},
    {"_id": "empty", "title": "", "text": ""},
)
QUERIES = (
    {"_id": "q1", "text": "How do bats find their way?"},
    {"_id": "q2", "text": "What causes the tides?"},
    {"_id": "q3", "text": "Which organism makes bread rise?"},
    {"_id": "q4", "text": "nobody has judged this"},
)
QRELS = {"q1": {"bats": 2}, "q2": {"tides": 2, "moon": 1, "bread": 0}, "q3": {"bread": 1}}


def write_jsonl(file: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write JSON lines, packed where the name says so."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


def write_task(folder: Path, packed: bool = False) -> Path:
    """Write a BEIR folder of five documents and three judged queries."""
    end = ".gz" if packed else ""
    (folder / "qrels").mkdir(parents=True)
    write_jsonl(folder / f"corpus.jsonl{end}", DOCUMENTS)
    write_jsonl(folder / f"queries.jsonl{end}", QUERIES)
    rows = [f"{query}\t{name}\t{grade}" for query, judged in QRELS.items() for name, grade in judged.items()]
    table = "\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n"
    (folder / "qrels" / "test.tsv").write_text(table)
    return folder


class WordEncoder:
    """Encodes the words of a text as places of a vector, so that the inner product counts common words."""

    name = "words"
    fingerprint = "words-1"
    dimension = 64
    scale = Scale()

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return self._encode(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        self.encoded += passages
        return self._encode(passages)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in content_words(text):
                vectors[row, sum(word.encode()) % self.dimension] += 1
        return vectors


class WordReader:
    """A cross-encoder that counts the words of the question in a passage, and keeps what it read."""

    name = "words"
    fingerprint = "words-1"

    def __init__(self) -> None:
        self.read: list[str] = []

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        self.read += passages
        asked = set(content_words(question))
        return np.array([len(asked & set(content_words(text))) for text in passages], dtype=np.float32)
