"""TREC's two formats: judgments (qrels) and runs, as trec_eval and BEIR read and write them.

Runs are lines of `query Q0 document rank score tag`; the rank is not used. Judgments are lines of
`query iteration document grade`, or BEIR's table of `query-id`, `corpus-id` and `score`
(https://trec.nist.gov/data/qrels_eng/, https://github.com/beir-cellar/beir/wiki).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines

Qrels = Mapping[str, Mapping[str, int]]
"""The grade of each judged document, by query."""

Run = Mapping[str, Mapping[str, float]]
"""The score of each document that a system found, by query."""

_QRELS = "Lines are `query iteration document grade`, or BEIR's `query-id, corpus-id, score` with tabs."
_RUN = "Lines are `query Q0 document rank score tag`."


def read_qrels(
    file: Path, *, queries: Collection[str] | None = None, documents: Collection[str] | None = None
) -> dict[str, dict[str, int]]:
    """Read judgments in either format, compressed or not.

    `queries` and `documents` are the known ids, if ids are to be checked. Raises `InputError` for a line that
    is not a judgment, an unknown id, two grades for one document, and an empty file.
    """
    qrels: dict[str, dict[str, int]] = {}
    for line in read_lines(file):
        fields = line.text.split("\t" if line.text.count("\t") > 1 else None)
        if len(fields) not in (3, 4):
            raise line.error(f"a judgment has 3 or 4 fields, this has {len(fields)}.", _QRELS)
        query, document, grade = fields[0].strip(), fields[-2].strip(), fields[-1].strip()
        if not grade.removeprefix("-").isdecimal():
            if line.number == 1:
                continue  # the names of the columns
            raise line.error(f"the grade {grade!r} is not a whole number.", _QRELS)
        if queries is not None and query not in queries:
            raise line.error(f"there is no query {query!r}.", "Are these the judgments of other queries?")
        if documents is not None and document not in documents:
            raise line.error(
                f"there is no document {document!r} in the corpus.",
                "Are these the judgments of another corpus? Where a run of a larger one is ranked again "
                "(--rerank), judgments may name documents that are not in the folder.",
            )
        judged = qrels.setdefault(query, {})
        if judged.setdefault(document, int(grade)) != int(grade):
            raise line.error(f"document {document!r} of query {query!r} was judged otherwise before.")
    if not qrels:
        raise InputError(f"{file} holds no judgments.", _QRELS)
    return qrels


def write_qrels(file: Path, qrels: Qrels) -> None:
    """Write judgments as trec_eval reads them."""
    lines = (
        f"{query} 0 {document} {grade}\n"
        for query, judged in qrels.items()
        for document, grade in judged.items()
    )
    file.write_text("".join(lines), encoding="utf-8")


def read_run(file: Path, *, documents: Collection[str] | None = None) -> dict[str, dict[str, float]]:
    """Read a run, compressed or not.

    `documents` are the known ids, if ids are to be checked. Raises `InputError` for a line that is not a
    result, a score that is not finite, a repeated or unknown document of a query, and an empty file.
    """
    run: dict[str, dict[str, float]] = {}
    for line in read_lines(file):
        fields = line.text.split()
        if len(fields) != 6:
            raise line.error(f"a result of a run has 6 fields, this has {len(fields)}.", _RUN)
        query, _, document, _, score, _ = fields
        try:
            value = float(score)
        except ValueError:
            raise line.error(f"the score {score!r} is not a number.", _RUN) from None
        if not math.isfinite(value):
            raise line.error(
                f"the score of document {document!r} is {score}.", "Fix the system that wrote this run."
            )
        if documents is not None and document not in documents:
            raise line.error(
                f"there is no document {document!r} in the corpus.", "Is this the run of another corpus?"
            )
        found = run.setdefault(query, {})
        if document in found:
            raise line.error(f"query {query!r} has document {document!r} twice.")
        found[document] = value
    if not run:
        raise InputError(f"{file} holds no results.", _RUN)
    return run


def write_run(file: Path, run: Run, tag: str) -> None:
    """Write a run with all documents in trec_eval's order. `tag` names the system."""
    with file.open("w", encoding="utf-8") as lines:
        for query, scores in run.items():
            for rank, document in enumerate(ranked(scores), 1):
                # Nine digits represent a float32 exactly, and trec_eval compares float32.
                lines.write(f"{query} Q0 {document} {rank} {scores[document]:.9g} {tag}\n")


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return the documents, best first; of equal scores the greater id comes first, as in trec_eval."""
    return sorted(sorted(scores, reverse=True), key=lambda document: -scores[document])
