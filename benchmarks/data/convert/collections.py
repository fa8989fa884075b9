"""Cranfield and CISI, whose records have fields that begin with a dot and a letter, in the layout of BEIR."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.rows import Row, lines, one_line, tsv

_QRELS = ("query-id", "corpus-id", "score")
_FIELD = re.compile(r"\.([A-Z])\s*")
_SOURCE_PAPER = -1  # Cranfield's code of the one document from which a question stems


def cranfield(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert Cranfield: without the title that begins each text, with queries numbered by their place.

    A higher grade is better: the codes 1 (a complete answer) to 4 become 4 to 1, and -1 becomes 5.
    """
    folder = originals / "cran"
    judged = set()
    for line in _text(folder / "QRelsCorrectedforTRECeval").splitlines():
        query, *_, document, code = line.split()
        judged.add((int(query), int(document), 5 if int(code) == _SOURCE_PAPER else 5 - int(code)))
    queries = (
        {"_id": str(place), "text": one_line(record["W"])}
        for place, record in enumerate(_records(_text(folder / "cran.qry")), 1)
    )
    documents = _records(_text(folder / "cran.all.1400"))
    yield "retrieval/cranfield/corpus.jsonl.gz", lines(_cranfield_document(each) for each in documents)
    yield "retrieval/cranfield/queries.jsonl.gz", lines(queries)
    yield "retrieval/cranfield/qrels/test.tsv", tsv(_QRELS, sorted(judged))


def cisi(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert CISI; a query is its title, if it has one, and its text."""
    with tarfile.open(originals / "cisi.tar.gz") as archive:
        queries, judgments = _member(archive, "CISI.QRY"), _member(archive, "CISI.REL")
    judged = {(int(cells[0]), int(cells[1]), 1) for cells in map(str.split, judgments.splitlines()) if cells}
    with_judgment = {query for query, _, _ in judged}
    documents = _records(_text(originals / "CISI.ALL"))
    yield "retrieval/cisi/corpus.jsonl.gz", lines(_cisi_document(each) for each in documents)
    yield (
        "retrieval/cisi/queries.jsonl.gz",
        lines(
            {
                "_id": each["I"],
                "text": one_line(f"{each.get('T', '')} {each.get('W', '')}"),
                "judged": int(each["I"]) in with_judgment,
            }
            for each in _records(queries)
        ),
    )
    yield "retrieval/cisi/qrels/test.tsv", tsv(_QRELS, sorted(judged))


def _cranfield_document(record: dict[str, str]) -> Row:
    title = one_line(record.get("T", ""))
    return {
        "_id": record["I"],
        "title": title,
        "text": one_line(record.get("W", "")).removeprefix(title).strip(),
        "author": one_line(record.get("A", "")),
        "bib": one_line(record.get("B", "")),
    }


def _cisi_document(record: dict[str, str]) -> Row:
    authors = (one_line(line) for line in record.get("A", "").splitlines())
    return {
        "_id": record["I"],
        "title": one_line(record.get("T", "")),
        "text": one_line(record.get("W", "")),
        "author": "; ".join(author for author in authors if author),
    }


def _records(text: str) -> Iterator[dict[str, str]]:
    """Yield records as their fields: `I`, the id, and the lines below the other letters."""
    record: dict[str, str] = {}
    field = ""
    for line in text.splitlines():
        if line.startswith(".I "):
            if record:
                yield record
            record, field = {"I": line[3:].strip()}, ""
        elif named := _FIELD.fullmatch(line):
            field = named[1]
        elif field:
            record[field] = record.get(field, "") + line + "\n"
    if record:
        yield record


def _member(archive: tarfile.TarFile, name: str) -> str:
    for member in archive:
        if Path(member.name).name == name and (content := archive.extractfile(member)):
            return content.read().decode("utf-8", "replace")
    raise KeyError(name)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
