"""Notes on reading a file: the counts after each step, and the invalid lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from citewell.scorer.data.types import DataProblem

_MOST_PROBLEMS = 10_000  # that are kept; all are counted

# In the order of the report.
STEPS = (
    "lines",
    "lines with problems",
    "rows with personal data",
    "near-duplicate prompts",
    "rows beyond the cap of a rater",
    "questions with votes",
    "answers with votes",
    "valid answers",
    "questions with enough valid answers",
    "answers of these",
    "answers long enough",
    "answers cut at the median length",
    "questions with pairs",
    "pairs far enough apart",
    "comparisons as given",
    "rankings",
    "rows without a thumb",
    "thumbs",
    "answers with thumbs",
    "pairs of thumbs up and thumbs down",
    "ties",
    "questions",
    "comparisons",
)


class FileNotes:
    """Counts and problems of one file."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._problems: list[DataProblem] = []
        self._places: set[str] = set()

    def count(self, step: str, number: int = 1) -> None:
        """Add `number` to the count after a step of `STEPS`."""
        self._counts[step] += number

    def problem(self, where: str, kind: str, what: str) -> None:
        """Record a problem with a line."""
        if where not in self._places:
            self._places.add(where)
            self.count("lines with problems")
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(DataProblem(where, kind, what))

    @property
    def problems(self) -> tuple[DataProblem, ...]:
        """The first ten thousand problems."""
        return tuple(self._problems)

    def funnel(self) -> Mapping[str, int]:
        """Return the count after each step that was taken, in order."""
        return {step: self._counts[step] for step in STEPS if step in self._counts}
