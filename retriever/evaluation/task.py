"""A retrieval task in the layout of BEIR: a corpus, queries, and judgments."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, plain_or_gzipped, read_lines
from citewell.core.text import encodable, encoded_text
from citewell.retriever.evaluation.trec import Qrels, read_qrels

_LAYOUT = "A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv; .gz is understood too."


@dataclass(frozen=True)
class Corpus:
    """The documents of a task, which may be empty; the three tuples have one entry per document."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def passages(self) -> tuple[str, ...]:
        """The texts for systems to read, each after its title if it has one."""
        pairs = zip(self.titles, self.texts, strict=True)
        return tuple(encoded_text(title, text) for title, text in pairs)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each id."""
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of each row's id in descending order, which is trec_eval's order of equal scores."""
        places = np.empty(len(self), dtype=np.int64)
        places[sorted(range(len(self)), key=self.ids.__getitem__, reverse=True)] = np.arange(len(self))
        return places

    @cached_property
    def digest(self) -> str:
        """A digest of the passages, without their ids, in 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for passage in self.passages:
            data = passage.encode()
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()[:16]

    def only(self, ids: Sequence[str]) -> Corpus:
        """Return only the documents of these ids."""
        rows = [self.rows[name] for name in ids]
        return Corpus(
            tuple(ids), tuple(self.titles[row] for row in rows), tuple(self.texts[row] for row in rows)
        )


@dataclass(frozen=True)
class RetrievalTask:
    """A task to measure systems on. `queries` are the judged ones, in the order of the judgments' file."""

    name: str
    corpus: Corpus
    queries: Mapping[str, str]
    qrels: Qrels
    notices: tuple[str, ...] = ()


def read_task(
    folder: Path, split: str, *, qrels: Path | None = None, partial: bool = False, limit: int | None = None
) -> RetrievalTask:
    """Read a BEIR folder, with the judgments of `split` or of the file `qrels`, up to `limit` queries.

    With `partial`, judgments may name documents that are missing from the corpus, as in a part of a larger
    one; a notice then counts them. Raises `InputError` for a folder of another kind, files that cannot be
    read, duplicate or unknown ids, and an empty corpus.
    """
    _check(folder)
    corpus = read_corpus(plain_or_gzipped(folder / "corpus.jsonl"))
    texts = read_queries(plain_or_gzipped(folder / "queries.jsonl"))
    file = qrels or plain_or_gzipped(folder / "qrels" / f"{split}.tsv")
    if not file.exists() and qrels is None:
        there = sorted(path.name.split(".")[0] for path in (folder / "qrels").glob("*.tsv*"))
        raise InputError(
            f"{folder} has no split {split!r}.", f"Its splits are: {', '.join(there) or 'none'}."
        )
    judged = read_qrels(file, queries=texts, documents=None if partial else corpus.rows)
    if limit is not None:
        judged = dict(islice(judged.items(), limit))
    notices = []
    every = sum(map(len, judged.values()))
    held = sum(document in corpus.rows for documents in judged.values() for document in documents)
    if not held:
        raise InputError(
            f"{file} judges no document of {folder}.", "Are these the judgments of another corpus?"
        )
    if held < every:
        notices.append(
            f"{every - held:,} of {every:,} judgments are of documents that the corpus does not hold; the "
            "relevant ones count as not found."
        )
    return RetrievalTask(
        folder.resolve().name, corpus, {name: texts[name] for name in judged}, judged, tuple(notices)
    )


def read_corpus(file: Path) -> Corpus:
    """Read a corpus, lines of {_id, title, text}; raise `InputError` for bad lines or no lines."""
    documents: dict[str, tuple[str, str]] = {}
    for line in read_lines(file):
        row = line.row()
        name = _id(line, row)
        if name in documents:
            raise line.error(f"there is a document {name!r} already.", "Ids must differ.")
        documents[name] = (_text(line, row, "title", ""), _text(line, row, "text"))
    if not documents:
        raise InputError(f"The corpus {file} is empty.", "Write one {_id, title, text} a line.")
    titles, texts = zip(*documents.values(), strict=True)
    return Corpus(tuple(documents), titles, texts)


def read_queries(file: Path) -> dict[str, str]:
    """Read queries, lines of {_id, text}; raise `InputError` for bad lines or no lines."""
    queries: dict[str, str] = {}
    for line in read_lines(file):
        row = line.row()
        name = _id(line, row)
        if name in queries:
            raise line.error(f"there is a query {name!r} already.", "Ids must differ.")
        queries[name] = _text(line, row, "text")
    if not queries:
        raise InputError(f"{file} holds no queries.", "Write one {_id, text} a line.")
    return queries


def _check(folder: Path) -> None:
    if (
        plain_or_gzipped(folder / "corpus.jsonl").exists()
        and plain_or_gzipped(folder / "queries.jsonl").exists()
    ):
        return
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.", _LAYOUT)
    inner = sorted(path.parent.name for path in folder.glob("*/corpus.jsonl*"))
    if inner:  # as in CQADupStack
        raise InputError(f"{folder} holds {len(inner)} tasks.", f"Name one of them: {', '.join(inner)}.")
    raise InputError(f"{folder} is not a BEIR folder.", _LAYOUT)


def _id(line: Line, row: Mapping[str, Any]) -> str:
    name = row.get("_id")
    if isinstance(name, int):
        return str(name)
    if not isinstance(name, str) or not name or len(name.split()) != 1:
        raise line.error(f"the _id {name!r} is not an id.", "Ids are text without blanks.")
    return name


def _text(line: Line, row: Mapping[str, Any], key: str, default: str | None = None) -> str:
    text = row.get(key)
    if text is None and default is not None:
        return default
    if not isinstance(text, str):
        raise line.error(f"the {key} is not a text.", f'Write {{"{key}": "…"}}.')
    return encodable(text)
