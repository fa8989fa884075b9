"""Reading the data that recipes name."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from citewell.core.errors import InputError
from citewell.core.progress import Log
from citewell.core.text import squeeze
from citewell.core.training.config import SourceConfig

_SHOWN_PROBLEMS = 5

Item = TypeVar("Item")


class DataFolders(NamedTuple):
    """The folders in which a recipe's files are searched: beside the recipe, then in the setting `data`."""

    beside: Path
    data: Path | None = None

    def find(self, name: str) -> Path:
        """Return the file or folder `name`; raises `InputError` if there is none."""
        folders = [folder for folder in self if folder is not None]
        for folder in folders:
            if (folder / name).exists():
                return folder / name
        looked = " or ".join(map(str, folders))
        hint = "" if self.data else "Set `data` (CITEWELL_DATA) to your data folder, or use an absolute path."
        raise InputError(f"There is no {name} in {looked}.", hint)

    def files(self, source: SourceConfig) -> list[Path]:
        """Return all files of a source; raises `InputError` for the first that does not exist."""
        return [self.find(name) for name in source.files]


def sample(items: Sequence[Item], limit: int | None, seed: str) -> tuple[Item, ...]:
    """Sample at most `limit` items with the seed, keeping their order."""
    if limit is None or len(items) <= limit:
        return tuple(items)
    places = random.Random(seed).sample(range(len(items)), limit)  # noqa: S311
    return tuple(items[place] for place in sorted(places))


def question_key(question: str) -> str:
    """Return the same text for questions that differ in case and white space only."""
    return squeeze(question).casefold()


def tell_problems(problems: Sequence[str], name: str, tell: Log) -> None:
    """Report the first problems of the source `name`, and the number of the others."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        tell(f"{name}: {problem}")
    if (more := len(problems) - _SHOWN_PROBLEMS) > 0:
        tell(f"{name}: {more:,} more lines have problems")
