"""The record and the model card of a trained classifier: its origin and its scores."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from citewell.retriever.extract.training.cross_validation import GroupScore, checksum
from citewell.retriever.extract.training.rows import PageRow, read_rows
from citewell.retriever.extract.training.scores import ExtractionScore
from citewell.retriever.extract.training.train import TrainingSettings

RECORD = "training.json"
CARD = "README.md"
MODEL_FILES = ("classifier.json", "forests.npz")

_CARD = """\
# The classifier of main text

This model tells the main text of a web page from what surrounds it: navigation, banners, footers, adverts.
It judges each run of text by its words, its place in the page and what stands around it, and knows no site
by name. Citewell reads HTML with it; docs/extraction.md describes how, and docs/training.md how to
train another one.

- Trained on {date} by `{command}`
- Form: two stacks of {trees} oblivious trees of depth {depth}, fitted by CatBoost {catboost} and evaluated
  by NumPy, and weights of {words} words
- Known limits: most pages that it has learned from are in English, and none asks for a sign-in

## Data

The model holds no text of these pages, except single words that stand on many sites.

{data}

## Scores

{scores}
"""


class PageFile(NamedTuple):
    """A file of pages, with the licenses that its rows name."""

    name: str
    sha256: str
    pages: int
    licenses: tuple[str, ...]


def describe(file: Path) -> PageFile:
    """Collect the card's facts about a file of `citewell.retriever.extract.training.rows`."""
    rows: list[PageRow] = list(read_rows(file))
    licenses = sorted({row.license for row in rows if row.license})
    return PageFile(file.name, checksum(file), len(rows), tuple(licenses))


def write_card(
    folder: Path,
    data: Sequence[PageFile],
    settings: TrainingSettings,
    folds: int,
    scores: Sequence[GroupScore],
    command: str,
) -> None:
    """Write the record and the card of the classifier in a folder; `scores` are cross-validated, or none."""
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    record: dict[str, Any] = {
        "command": command,
        "date": date,
        "catboost": version("catboost"),
        "settings": settings._asdict(),
        "data": [file._asdict() for file in data],
        "model": {name: checksum(folder / name) for name in MODEL_FILES},
        "folds": folds,
        "scores": [_flat(score) for score in scores],
    }
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")
    stored = json.loads((folder / "classifier.json").read_text(encoding="utf-8"))
    card = _CARD.format(
        date=date,
        command=command,
        trees=settings.trees,
        depth=settings.depth,
        catboost=record["catboost"],
        words=f"{len(stored['names']) + len(stored['words']):,}",
        data="\n".join(_line(file) for file in data),
        scores=_about(scores, folds) if scores else "Not cross-validated (`--folds 0`).",
    )
    (folder / CARD).write_text(card, encoding="utf-8")


def score_table(scores: Sequence[GroupScore]) -> str:
    """Format the scores as a Markdown table."""
    lines = [
        "| data | pages of type | pages | precision | recall | F1 of words | F1 of runs of four words |",
        "|---|---|---|---|---|---|---|",
    ]
    for score in scores:
        words = " | ".join(f"{value:.3f}" for value in score.words)
        lines.append(
            f"| {score.data_set} | {score.page_type} | {score.pages:,} | {words} | {score.runs.f1:.3f} |"
        )
    return "\n".join(lines)


def _about(scores: Sequence[GroupScore], folds: int) -> str:
    return (
        f"On pages of sites that were not trained on: {folds} others of its kind were trained, each\n"
        "without the pages of a share of the sites, and have read these. Precision, recall and F1 of words\n"
        "are those of the Web Content Extraction Benchmark, the last column is that of the article\n"
        "extraction benchmark.\n"
        f"\n{score_table(scores)}"
    )


def _line(file: PageFile) -> str:
    licenses = "; ".join(file.licenses) or "no license stated"
    return f"- `{file.name}`: {file.pages:,} pages with text ({licenses}), SHA-256 {file.sha256}"


def _flat(score: GroupScore) -> dict[str, Any]:
    return {
        "data_set": score.data_set,
        "page_type": score.page_type,
        "pages": score.pages,
        "words": _rounded(score.words),
        "runs": _rounded(score.runs),
    }


def _rounded(score: ExtractionScore) -> dict[str, float]:
    return {name: round(value, 4) for name, value in score._asdict().items()}
