"""The deep learning tracks of TREC: six first-stage runs, the passages that they found, and the judgments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.rows import lines, one_line, tsv

_RUNS = {
    "bm25": "BM25",
    "bm25_rm3": "BM25_RM3",
    "openai_ada2": "OPEN_AI_ADA2",
    "repllama": "REP_LLAMA",
    "splade_pp_ed": "SPLADE_P_P_ENSEMBLE_DISTIL",
    "tasb": "D_BERT_KD_TASB",
}
_YEARS = ("19", "20")
_JUDGED = "topics-and-qrels/qrels.dl{}-passage.txt"
_QRELS = ("query-id", "corpus-id", "score")
_DOUBLY_ENCODED = re.compile("[\x80-\xff]+")


def trecdl19(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the queries that TREC's deep learning track of 2019 judged."""
    return _track(originals, "19")


def trecdl20(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the queries that TREC's deep learning track of 2020 judged."""
    return _track(originals, "20")


def _track(originals: Path, year: str) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert a year: all that its runs found, and of the other year's passages those that it judged."""
    runs = {name: _hits(originals, system, year) for name, system in _RUNS.items()}
    passages = _passages(originals)
    queries = {query: text for hits in runs.values() for query, text, _ in hits}
    judged = [row for row in _judgments(originals / _JUDGED.format(year)) if row[0] in queries]
    found = {hit["docid"] for hits in runs.values() for _, _, of in hits for hit in of}
    corpus = found | {document for _, document, _ in judged if document in passages}
    folder = f"retrieval/trecdl{year}"
    rows = ({"_id": key, "title": "", "text": passages[key]} for key in sorted(corpus, key=int))
    yield f"{folder}/corpus.jsonl.gz", lines(rows)
    asked = ({"_id": query, "text": queries[query]} for query in sorted(queries, key=int))
    yield f"{folder}/queries.jsonl.gz", lines(asked)
    yield f"{folder}/qrels/test.tsv", tsv(_QRELS, [row for row in judged if row[1] in corpus])
    yield f"{folder}/official_qrels.tsv", tsv(_QRELS, judged)
    for name, hits in runs.items():
        yield f"{folder}/runs/{name}.txt.gz", _run(name, hits)


def _hits(originals: Path, system: str, year: str) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Return each query's id, text and hits, in the order of the ids."""
    file = originals / "retrieve_results" / system / f"retrieve_results_dl{year}.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    return sorted(
        ((str(each["hits"][0]["qid"]), each["query"], each["hits"]) for each in entries),
        key=lambda entry: int(entry[0]),
    )


def _passages(originals: Path) -> dict[str, str]:
    """Return the texts that the runs of both years found, with doubly encoded characters decoded."""
    return {
        hit["docid"]: _DOUBLY_ENCODED.sub(_decoded, one_line(hit["content"]))
        for year in _YEARS
        for system in _RUNS.values()
        for _, _, hits in _hits(originals, system, year)
        for hit in hits
    }


def _decoded(found: re.Match[str]) -> str:
    try:
        return found[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return found[0]


def _judgments(file: Path) -> list[tuple[str, str, str]]:
    rows = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return [(query, document, grade) for query, _, document, grade in rows]


def _run(name: str, hits: list[tuple[str, str, list[dict[str, Any]]]]) -> Iterator[str]:
    for query, _, of in hits:
        for hit in of:
            yield f"{query} Q0 {hit['docid']} {hit['rank']} {hit['score']:g} {name}"
