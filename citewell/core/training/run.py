"""A training run: what it reads and writes, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from citewell.core.training.sources import DataFolders


@dataclass(frozen=True, kw_only=True)
class Run:
    """Where a run reads and writes. `data` is the setting of that name.

    `command` is shown in the model card.
    """

    recipe: Path
    out: Path
    cache: Path
    command: str
    data: Path | None = None

    @property
    def folders(self) -> DataFolders:
        """Where the files that the recipe names are looked for."""
        return DataFolders(self.recipe.parent, self.data)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The result of a run.

    `seen` counts what was trained on, in a `unit` such as tokens. `before` and `after` are dev metrics by
    name, `test` those of held-out data that did not select the checkpoint; all are empty without such data.
    """

    steps: int
    best_step: int
    seconds: float
    device: str
    seen: int
    unit: str
    before: Mapping[str, float]
    after: Mapping[str, float]
    test: Mapping[str, float] = field(default_factory=dict)
