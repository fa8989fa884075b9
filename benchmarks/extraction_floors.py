"""The floors of the extraction gate: pinned minimum scores of the packaged classifier.

The gate reads a fixed sample of pages: all of the article extraction benchmark and every fourth of WCXB. The
packaged classifier was trained on them, so these scores show regressions in reading pages, and not its
quality on other pages; scores on `unseen` pages are those that its training measured and recorded.

`python -m benchmarks.extraction_floors --pin` raises the floors to slightly below the current scores.
Lowering a floor requires `--lower`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.floors import gate
from citewell.retriever.extract.main_text.classifier import MODEL, packaged
from citewell.retriever.extract.training.card import RECORD
from citewell.retriever.extract.training.cross_validation import (
    GroupScore,
    PageScore,
    by_type,
    checksum,
    text_of,
)
from citewell.retriever.extract.training.rows import data_files, data_set, read_rows
from citewell.retriever.extract.training.scores import run_overlap, word_score

FLOORS = Path(__file__).parent.parent / "tests" / "retriever" / "extract" / "floors.json"
ARTICLES = "article_extraction_benchmark"
_EVERY = {ARTICLES: 1}  # row of a data set
_EVERY_OTHER = 4


def measured(data: Path) -> dict[str, float]:
    """Return the scores of the packaged classifier on the sample."""
    scores = []
    files = data_files(data)
    for name in sorted({data_set(file) for file in files}):
        rows = (row for file in files if data_set(file) == name for row in read_rows(file))
        for number, row in enumerate(rows):
            if number % _EVERY.get(name, _EVERY_OTHER) == 0:
                text, gold = text_of(row, packaged()), row.gold_text or ""
                scores.append(PageScore(name, row.page_type, word_score(text, gold), run_overlap(text, gold)))
    return named(by_type(scores))


def named(groups: Sequence[GroupScore]) -> dict[str, float]:
    """Return the scores that have floors, by name: each benchmark's F1, and the recall of forums."""
    found = {}
    for group in groups:
        if group.data_set == ARTICLES:
            found["articles F1"] = group.runs.f1
        else:
            found[f"{group.data_set} {group.page_type} F1"] = group.words.f1
            if group.page_type == "forum":
                found[f"{group.data_set} forum recall"] = group.words.recall
    return found


def recorded() -> dict[str, float]:
    """Return the cross-validated scores that the training of the packaged classifier recorded."""
    record = json.loads((MODEL / RECORD).read_text(encoding="utf-8"))
    found = {}
    for group in record["scores"]:
        if group["data_set"] == ARTICLES:
            found["articles F1, unseen"] = group["runs"]["f1"]
        else:
            name = f"{group['data_set']} {group['page_type']}"
            found[f"{name} F1, unseen"] = group["words"]["f1"]
            if group["page_type"] == "forum":
                found[f"{name} recall, unseen"] = group["words"]["recall"]
    return found


def checksums(data: Path) -> dict[str, str]:
    """Return the SHA-256 of each data file."""
    return {file.name: checksum(file) for file in data_files(data)}


if __name__ == "__main__":
    gate(__doc__, "score", FLOORS, checksums, lambda data: measured(data) | recorded())
