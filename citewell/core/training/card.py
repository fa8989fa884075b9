"""What the cards of all models say: how a run was started, how long it took, and from which files."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from citewell.core.progress import duration
from citewell.core.training.files import DataFile

CARD = "README.md"
RECORD = "training.json"


class RunResult(Protocol):
    """What every run comes to; a dataclass, all of whose fields are kept in the record."""

    @property
    def steps(self) -> int: ...  # noqa: D102
    @property
    def best_step(self) -> int: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102


def write_card(
    folder: Path,
    template: str,
    *,
    command: str,
    seed: int,
    packages: Sequence[str],
    outcome: Any,
    files: Sequence[DataFile],
    counts: Mapping[str, object],
    fields: Mapping[str, object],
) -> None:
    """Write a model's card and, for programs, the record of the same.

    `template` is filled with `fields`, and with `command`, `date`, `time`, `hours`, `steps`, `best`, `seed`
    and the `versions` of the `packages`. The record has those, the `counts` of the data, the `files`, and all
    of the `outcome`.
    """
    ran: RunResult = outcome
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    versions = {name: version(name) for name in packages}
    record = {
        "command": command,
        "date": date,
        "versions": versions,
        **counts,
        "data": [asdict(each) for each in files],
        **asdict(outcome),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    card = template.format(
        command=command,
        date=date,
        time=duration(ran.seconds),
        hours=ran.seconds / 3600,
        steps=ran.steps,
        best=ran.best_step,
        seed=seed,
        versions=", ".join(f"{name} {number}" for name, number in versions.items()),
        **fields,
    )
    (folder / CARD).write_text(card, encoding="utf-8")


def card_name(folder: Path) -> str:
    """The name of the model that is written to `folder`, or to the part of a run's folder that becomes it."""
    return folder.parent.resolve().name if folder.name == "partial" else folder.resolve().name


def held_out(train: Sequence[str], dev: Sequence[str], what: str) -> str:
    """What a card says under its data of sources that are in both uses; nothing where there is none."""
    both = [name for name in dev if name in set(train)]
    return f"\n\nHeld out of these for the dev metrics: {what} of {', '.join(both)}." if both else ""
