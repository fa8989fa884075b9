"""Which system's answers are preferred to which other's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.judgments import ItemJudgment
from citewell.server.studies.report.estimate import ByQuestion, MeanEstimate

OVERALL = "overall"


class Preference(NamedTuple):
    """One rater's choice between two systems: 1 for the first, 0 for the second, .5 for a tie."""

    first: str
    second: str
    value: float


@dataclass(frozen=True)
class WinMatrix:
    """How often the system of the row beats that of the column, with ties as one half (WebGLM, Fig. 6)."""

    systems: tuple[str, ...]
    rates: Mapping[tuple[str, str], MeanEstimate]


@dataclass(frozen=True)
class ScaleWins:
    """The win rates in one scale of a comparison (WebGPT, Fig. 2)."""

    name: str
    title: str
    matrix: WinMatrix


def preferences_of(judgment: ItemJudgment, scale: str = OVERALL) -> Iterator[Preference]:
    """Yield the preferences of a judgment: that of a comparison of two answers, or all pairs of a ranking."""
    systems = judgment.systems
    if scale in judgment.comparison and len(systems) == 2:
        yield Preference(systems[0], systems[1], _chosen(judgment.comparison[scale]))
    if scale == OVERALL and judgment.ranks:
        ranked = zip(systems, judgment.ranks, strict=True)
        for (first, upper), (second, lower) in combinations(ranked, 2):
            yield Preference(first, second, _chosen(upper - lower))


def win_matrix(judgments: Iterable[ItemJudgment], scale: str = OVERALL) -> WinMatrix:
    """Return the win rates over questions; judgments of one question are averaged first."""
    cells: dict[tuple[str, str], ByQuestion] = defaultdict(ByQuestion)
    for judgment in judgments:
        for first, second, value in preferences_of(judgment, scale):
            cells[first, second].add(judgment.item.id, value)
            cells[second, first].add(judgment.item.id, 1 - value)
    rates = {pair: found for pair, values in sorted(cells.items()) if (found := values.estimate())}
    return WinMatrix(tuple(sorted({system for pair in rates for system in pair})), rates)


def scale_wins(form: StudyForm, judgments: Sequence[ItemJudgment]) -> list[ScaleWins]:
    """Return the win rates in each scale of a comparison that has been used."""
    found = [
        ScaleWins(scale.name, scale.title, win_matrix(judgments, scale.name)) for scale in form.comparison
    ]
    return [each for each in found if each.matrix.rates]


def _chosen(difference: int) -> float:
    """Return the preference for the first answer; a negative difference prefers it."""
    return 0.5 if difference == 0 else float(difference < 0)
