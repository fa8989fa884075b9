"""Model cards: the training of a model, its files, and its quality."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from citewell.core.progress import duration
from citewell.core.tables import markdown_table
from citewell.core.training.config import CommonTrainingConfig, SourceConfig
from citewell.core.training.run import Run, RunResult

CARD = "README.md"
RECORD = "training.json"

_CARD = """\
---
{front}
---

# {name}

{about}

## How it was trained

- Command: `{command}`
- Date: {date}
- Time: {time} on {device} ({hours:.2f} hours){rate}
- Steps: {steps}
- Seed: {seed}
- Versions: {versions}

`run.json` holds the recipe with all defaults, `training.json` the facts of this card for programs,
`training.jsonl` and `training.png` the losses and metrics during training.

## Data

{data}

## Metrics

{metrics}
"""

Source = TypeVar("Source", bound=SourceConfig)
Cells = Mapping[tuple[str, str], object]
"""Cells of a table of data by the use and the name of each source."""


@dataclass(frozen=True)
class DataFile:
    """A file that a model was trained or evaluated on: `use` is `train` or `dev`."""

    source: str
    name: str
    sha256: str
    license: str
    use: str


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """A trainer's part of a model card, in Markdown.

    `front` are lines of YAML. `counts` are further facts for programs, `packages` those whose versions count.
    """

    front: Mapping[str, str]
    about: str
    data: str
    metrics: str
    counts: Mapping[str, object]
    packages: Sequence[str]


def write_card(
    folder: Path,
    card: ModelCard,
    run: Run,
    training: CommonTrainingConfig,
    files: Sequence[DataFile],
    result: RunResult,
) -> None:
    """Write the model card and, for programs, the record of the same."""
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    versions = {name: version(name) for name in card.packages}
    record = {
        "command": run.command,
        "date": date,
        "versions": versions,
        **card.counts,
        "data": [asdict(file) for file in files],
        **asdict(result),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    ema = f", averaged with a decay of {training.ema}" if training.ema is not None else ""
    text = _CARD.format(
        front="\n".join(f"{key}: {value}" for key, value in card.front.items()),
        name=run.out.resolve().name,
        about=card.about.strip(),
        command=run.command,
        date=date,
        time=duration(result.seconds),
        device=result.device,
        hours=result.seconds / 3600,
        rate=f", {result.seen / max(result.seconds, 1e-9):,.0f} {result.unit} per second"
        if result.seen
        else "",
        steps=f"{result.steps:,}; the weights are those of step {result.best_step:,}{ema}",
        seed=training.seed,
        versions=", ".join(f"{name} {number}" for name, number in versions.items()),
        data=card.data,
        metrics=card.metrics or "None: no data was held out.",
    )
    (folder / CARD).write_text(text, encoding="utf-8")


def describe_file(path: Path, *, use: str, source: str, licensed: str = "") -> DataFile:
    """Return a file of a source, with the SHA-256 of its contents."""
    return DataFile(source, path.name, _digest(path), licensed, use)


def describe_files(
    uses: Mapping[str, Iterable[Source]], paths: Callable[[Source], Sequence[Path]]
) -> list[DataFile]:
    """Return the files of all sources, by their use, with the SHA-256 of their contents."""
    return [
        describe_file(path, use=use, source=source.name, licensed=source.license)
        for use, sources in uses.items()
        for source in sources
        for path in paths(source)
    ]


def data_table(files: Sequence[DataFile], columns: Mapping[str, Cells]) -> str:
    """Return a table of the files with their licenses, and `columns` of their sources by header."""
    rows = [
        [
            file.use,
            file.source,
            *(str(cells[file.use, file.source]) for cells in columns.values()),
            f"`{file.name}`",
            file.license,
            file.sha256,
        ]
        for file in files
    ]
    return markdown_table(["use", "source", *columns, "file", "license", "SHA-256"], rows)


def metrics_table(columns: Mapping[str, Mapping[str, float]]) -> str:
    """Return a table of metrics, with `columns` of values by header; empty without any value."""
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [
        [name, *(f"{column[name]:.4f}" if name in column else "" for column in columns.values())]
        for name in names
    ]
    return markdown_table(["metric", *columns], rows) if rows else ""


def held_out(train: Iterable[str], dev: Iterable[str], what: str) -> str:
    """Return a paragraph about sources that are used for both training and dev metrics.

    The paragraph is empty if there are none.
    """
    used = set(train)
    both = [name for name in dev if name in used]
    return f"\n\nHeld out of these for the dev metrics: {what} of {', '.join(both)}." if both else ""


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
