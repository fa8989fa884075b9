"""Labels from a teacher's rankings: several passes of a language model over the same candidates, merged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, plain_or_gzipped, read_lines
from citewell.core.training.fields import text
from citewell.retriever.evaluation.task import read_corpus, read_queries
from citewell.retriever.training.rows import LabeledRow

FILE = "teacher.jsonl"


def ranking_rows(folder: Path, depth: int) -> list[LabeledRow]:
    """Read the rankings in teacher.jsonl[.gz] of a BEIR folder: lines of {query_id, ranking}.

    Passes over the same candidates are merged by the mean of reciprocal ranks, and the label is its
    logarithm; the `depth` best passages of a query are kept. Reciprocal ranks, because the passes agree at
    the top and differ at random below (60 against 90 moves a mean rank as much as 1 against 31), and
    because the top matters most for a ranker. Logarithms, so that a softmax of labels, as in
    `citewell.retriever.losses.listwise_kl`, is proportional to the reciprocal ranks.

    Raises `InputError` for a line of another form, and for a query or a document that is not in the folder.
    """
    corpus = read_corpus(plain_or_gzipped(folder / "corpus.jsonl"))
    queries = read_queries(plain_or_gzipped(folder / "queries.jsonl"))
    totals: dict[str, dict[str, float]] = {}
    passes: dict[str, int] = {}
    for line in read_lines(plain_or_gzipped(folder / FILE)):
        row = line.row()
        query = text(line, row, "query_id")
        if query not in queries:
            raise line.error(f"there is no query {query!r}.", "Are these the rankings of other queries?")
        passes[query] = passes.get(query, 0) + 1
        sums = totals.setdefault(query, {})
        for rank, document in enumerate(_ranking(line, row), 1):
            if document not in corpus.rows:
                raise line.error(f"there is no document {document!r} in the corpus.")
            sums[document] = sums.get(document, 0.0) + 1 / rank
    if not totals:
        raise InputError(f"{plain_or_gzipped(folder / FILE)} holds no rankings.")
    rows = []
    for query, sums in totals.items():
        best = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:depth]
        passages = tuple(corpus.passages[corpus.rows[document]] for document, _ in best)
        rows.append(
            LabeledRow(queries[query], passages, tuple(math.log(total / passes[query]) for _, total in best))
        )
    return rows


def _ranking(line: Line, row: dict[str, Any]) -> list[str]:
    value = row.get("ranking")
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise line.error("the ranking is not a list of document ids.")
    if len(set(value)) < len(value):
        raise line.error("the ranking names a document twice.")
    return value
