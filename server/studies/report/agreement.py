"""The agreement of raters in each measure of a form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.judgments import ItemJudgment
from citewell.server.studies.report.coefficients import krippendorff_alpha, preference_agreement
from citewell.server.studies.report.wins import OVERALL, preferences_of

_Values = Callable[[ItemJudgment], Iterator[tuple[Hashable, float]]]
"""Yields what a judgment says of each thing of its item."""


class MeasureAgreement(NamedTuple):
    """The agreement of raters in one measure: Krippendorff's alpha and, of preferences, WebGPT's share.

    `units` were judged by two raters or more.
    """

    title: str
    units: int
    alpha: float | None
    agreed: float | None


def agreements_of(form: StudyForm, judgments: Sequence[ItemJudgment]) -> list[MeasureAgreement]:
    """Return the agreement in every measure that two raters used on the same thing."""
    measures: list[tuple[str, _Values, _Values | None]] = [
        (scale.title, _compared(scale.name), _preferred(scale.name)) for scale in form.comparison
    ]
    if form.ranked:
        measures.append(("Rank", _ranked, _preferred(OVERALL)))
    measures += [(scale.title, _scored(scale.name), None) for scale in form.answer or form.alone]
    measures += [(f"{scale.title} of references", _referred(scale.name), None) for scale in form.reference]
    return [found for measure in measures if (found := _agreement(judgments, *measure)).units]


def _agreement(
    judgments: Sequence[ItemJudgment], title: str, levels: _Values, preferences: _Values | None
) -> MeasureAgreement:
    units = _units(judgments, levels)
    agreed = preference_agreement(_units(judgments, preferences)) if preferences else None
    return MeasureAgreement(title, len(units), krippendorff_alpha(units), agreed)


def _units(judgments: Sequence[ItemJudgment], values: _Values) -> list[list[float]]:
    """Return what several raters said of the same thing of an item."""
    units: dict[Hashable, list[float]] = defaultdict(list)
    for judgment in judgments:
        for thing, value in values(judgment):
            units[judgment.item.id, thing].append(value)
    return [each for each in units.values() if len(each) > 1]


def _compared(scale: str) -> _Values:
    return lambda each: iter([("", each.comparison[scale])] if scale in each.comparison else [])


def _preferred(scale: str) -> _Values:
    return lambda each: (((first, second), value) for first, second, value in preferences_of(each, scale))


def _ranked(judgment: ItemJudgment) -> Iterator[tuple[Hashable, float]]:
    return iter(enumerate(judgment.ranks))


def _scored(scale: str) -> _Values:
    return lambda each: ((place, one[scale]) for place, one in each.scores.items() if scale in one)


def _referred(scale: str) -> _Values:
    return lambda each: ((place, one[scale]) for place, one in each.references.items() if scale in one)
