"""A training run: its inputs, outputs and result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from citewell.core.training.sources import DataFolders


@dataclass(frozen=True, kw_only=True)
class Run:
    """The files and folders that a run reads and writes. `data` is the setting of that name.

    `command` is shown in the model card.
    """

    recipe: Path
    out: Path
    cache: Path
    command: str
    data: Path | None = None

    @property
    def folders(self) -> DataFolders:
        """The folders in which the recipe's files are searched."""
        return DataFolders(self.recipe.parent, self.data)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The result of a run.

    `seen` is the amount of training data, in a `unit` such as tokens. `before` and `after` are dev metrics by
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
