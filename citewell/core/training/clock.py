"""The time that a run takes."""

from __future__ import annotations

import json
import time
from pathlib import Path

_FILE = "seconds.json"


class Clock:
    """Counts the seconds of a run, in all parts of one that is interrupted and resumed.

    They are kept beside its checkpoints; those between the last checkpoint and an interruption do not count.
    """

    def __init__(self, checkpoints: Path) -> None:
        """Start, from the seconds that were saved in the folder `checkpoints`."""
        self._file = checkpoints / _FILE
        self._before = 0.0
        if self._file.is_file():
            self._before = float(json.loads(self._file.read_text(encoding="utf-8"))["seconds"])
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds so far, to one decimal place."""
        return round(self._before + time.monotonic() - self._start, 1)

    def save(self) -> None:
        """Save the seconds so far, with a checkpoint."""
        self._file.write_text(json.dumps({"seconds": self.seconds}), encoding="utf-8")
