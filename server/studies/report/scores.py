"""The mean scores of each system, and whether they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.core.significance import PairedComparison, compare, corrected
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.scales import RatingScale
from citewell.server.studies.judgments import ItemJudgment
from citewell.server.studies.report.estimate import ByQuestion, MeanEstimate


class _Score(NamedTuple):
    system: str
    question: str
    value: float


class Measure(NamedTuple):
    """A column of the report: a scale of answers or references, or a measure made of scales."""

    part: str
    name: str
    title: str
    low: bool = False


@dataclass(frozen=True)
class MeasureResult:
    """The mean of each system in one measure, and the paired tests of the others against a baseline."""

    measure: Measure
    means: Mapping[str, MeanEstimate]
    tests: Mapping[str, PairedComparison]


def results_of(form: StudyForm, judgments: Sequence[ItemJudgment], baseline: str) -> list[MeasureResult]:
    """Return the results of all measures of a form that have scores, in its order."""
    found: dict[Measure, list[_Score]] = defaultdict(list)
    for judgment in judgments:
        for measure, score in _scores(form, judgment):
            found[measure].append(score)
    return [_result(measure, found[measure], baseline) for measure in _measures(form) if measure in found]


def _measures(form: StudyForm) -> Iterator[Measure]:
    yield from (_measure("reference", scale) for scale in form.reference)
    scales = {scale.name: scale for scale in (*form.answer, *form.alone)}
    yield from (_measure("answer", scale) for scale in scales.values())
    yield from (Measure("answer", joint.name, joint.title) for joint in form.joint)
    if form.ranked:
        yield Measure("answer", "rank", "Rank", low=True)


def _measure(part: str, scale: RatingScale) -> Measure:
    return Measure(part, scale.name, scale.title, scale.low)


def _scores(form: StudyForm, judgment: ItemJudgment) -> Iterator[tuple[Measure, _Score]]:
    systems, question = judgment.systems, judgment.item.id
    answers = [_measure("answer", scale) for scale in form.answer_scales(len(systems))]
    for index, scores in judgment.scores.items():
        for measure in answers:
            if measure.name in scores:
                yield measure, _Score(systems[index], question, scores[measure.name])
        for joint in form.joint:
            if all(name in scores for name in joint.scales):
                value = float(all(scores[name] for name in joint.scales))
                yield Measure("answer", joint.name, joint.title), _Score(systems[index], question, value)
    for (index, _), scores in judgment.references.items():
        for scale in form.reference:
            if scale.name in scores:
                score = _Score(systems[index], question, scores[scale.name])
                yield _measure("reference", scale), score
    for system, rank in zip(systems, _mid_ranks(judgment.ranks), strict=False):
        yield Measure("answer", "rank", "Rank", low=True), _Score(system, question, rank)


def _mid_ranks(ranks: Sequence[int]) -> list[float]:
    """Return the ranks with ties in the middle of their places: 1, 1, 2 and 1, 1, 3 both mean 1.5, 1.5, 3."""
    return [sum(other < rank for other in ranks) + (ranks.count(rank) + 1) / 2 for rank in ranks]


def _result(measure: Measure, scores: Iterable[_Score], baseline: str) -> MeasureResult:
    systems: dict[str, ByQuestion] = defaultdict(ByQuestion)
    for score in scores:
        systems[score.system].add(score.question, score.value)
    means = {name: estimate for name in sorted(systems) if (estimate := systems[name].estimate())}
    base = systems[baseline].means()
    tests = {}
    for name in means:
        own = systems[name].means()
        both = own.keys() & base.keys()
        if name != baseline and len(both) > 1:
            tests[name] = compare({q: own[q] for q in both}, {q: base[q] for q in sorted(both)})
    return MeasureResult(measure, means, corrected(tests))
