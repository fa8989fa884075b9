"""What is published of rows whose answers are not in the folder: it stays until they are run again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ablations.rows import AblationRow
from citewell.core.significance import PairedComparison
from citewell.pipeline.evaluation.accuracy import ACCURACY

Figures = Mapping[str, Any]
"""Of a row: its table, the date, and by measure the mean with its interval and the number of questions."""
Comparisons = Mapping[str, Mapping[str, PairedComparison]]
"""By measure, each row's difference from the row it is compared with."""


def published(
    file: Path, waiting: Sequence[AblationRow], questions: int
) -> tuple[Mapping[str, Figures], Comparisons]:
    """Return the published figures of rows that wait, and their comparisons.

    Those of another number of questions are left out, and rows that are compared with one that was measured
    again: their differences from it are not known.
    """
    if not file.is_file():
        return {}, {}
    found = json.loads(file.read_text(encoding="utf-8"))
    rows = {name: of for name, of in found["rows"].items() if of[ACCURACY]["questions"] == questions}
    against = {row.name: row.against for row in waiting if row.name in rows}

    def stays(name: str) -> bool:
        return name in against and (against[name] == name or stays(against[name]))

    kept = {name: {"date": found["date"]} | of for name, of in rows.items() if stays(name)}
    return kept, {
        measure: {name: PairedComparison(**one) for name, one in of.items() if name in kept}
        for measure, of in found["comparisons"].items()
    }
