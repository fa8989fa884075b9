"""What `benchmarks.answer_bearing` measured per question, in a file from which an interrupted run resumes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Values = dict[str, dict[str, float]]
"""Measure, question, value."""


@dataclass
class Measured:
    """The values of a system's questions, its seconds for each, and the peak memory of its process."""

    values: Values = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_mb: float = 0.0

    def add(self, key: str, values: Mapping[str, float], seconds: float) -> None:
        """Add the values and the seconds of a question."""
        for measure, value in values.items():
            self.values.setdefault(measure, {})[key] = value
        self.seconds[key] = seconds


@dataclass(frozen=True)
class Details:
    """A file of what each system measured; without a `file`, nothing is kept.

    `asked` describes the run: its split, limit, collection and settings.
    """

    file: Path | None
    asked: Mapping[str, Any]

    def read(self, system: str) -> Measured:
        """Return what the file has of a system; exit the program if it is of a run that asked differently."""
        return read_systems(self.file, self.asked).get(system, Measured())

    def write(self, system: str, measured: Measured) -> None:
        """Replace what the file has of a system."""
        if self.file is None:
            return
        systems = read_systems(self.file, self.asked) | {system: measured}
        written = {"asked": self.asked, "systems": {name: asdict(found) for name, found in systems.items()}}
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
        new.replace(self.file)


def read_systems(file: Path | None, asked: Mapping[str, Any] | None = None) -> dict[str, Measured]:
    """Return the systems in a file of details; exit the program if `asked` differs from what was asked."""
    if file is None or not file.exists():
        return {}
    details = json.loads(file.read_text(encoding="utf-8"))
    if asked is not None and details["asked"] != asked:
        sys.exit(f"{file} has the details of another run: {details['asked']}")
    return {name: Measured(**measured) for name, measured in details["systems"].items()}
