"""A run that is read after its end, or while it goes on: its outcomes, and the recipe that judged them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.folder import RUN
from citewell.bootstrap.journal import Journal
from citewell.bootstrap.types import Outcome
from citewell.core.errors import InputError

_SECTIONS = ("references", "prompt", "teacher", "correction", "filters")


class FinishedRun:
    """The run in a folder; raises `InputError` if there is none."""

    def __init__(self, folder: Path) -> None:
        file = folder / RUN
        try:
            started_with: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["started_with"]
            # The command's recipe may tell of more, such as its engine.
            recipe = {name: started_with["recipe"][name] for name in _SECTIONS}
            self.config = BootstrapConfig(**recipe)
        except FileNotFoundError as error:
            raise InputError(f"{folder} holds no bootstrap.", "Name a folder that --out named.") from error
        except (OSError, ValueError, KeyError, ValidationError) as error:
            raise InputError(
                f"{file} cannot be read: {error}.", "Was the run made by another version of Citewell?"
            ) from error
        self.folder = folder
        self._journal = Journal(folder, 1)

    def outcomes(self) -> Iterator[Outcome]:
        """The outcomes in the order of the tasks."""
        return self._journal.outcomes()
