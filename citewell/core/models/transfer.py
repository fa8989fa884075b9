"""What downloads of models have in common: their progress, and the failure of one source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import ModelError
from citewell.core.models.installed import FileSum

OnBytes = Callable[[int, int], None]
"""Called with `(done, total)` bytes while files arrive."""


class SourceFailedError(ModelError):
    """One source of a model cannot give it; another one may."""


class ArrivedModel(NamedTuple):
    """A folder with a downloaded model that is not yet checked.

    `source` names the exact source, and `stated` holds the SHA-256 that it states for its files.
    """

    folder: Path
    source: str
    stated: Mapping[str, FileSum]
