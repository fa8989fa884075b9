"""The elements of batches: a question with some answers, and their known comparisons."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from citewell.scorer.data.types import TIE, Comparison, Group, Voted
from citewell.scorer.training.config import Formulation

_POSITIVE = 5
_NEGATIVE_LABEL = -1.0


class CandidateText(NamedTuple):
    """An answer with the texts of its references."""

    text: str
    references: tuple[str, ...] = ()


class PreferredPair(NamedTuple):
    """Two answers of an element, by index, and the degree to which the first is preferred, 0 to 1."""

    first: int
    second: int
    preference: float
    weight: float


@dataclass(frozen=True, slots=True)
class Element:
    """A question and `n` answers, all computed in one forward pass.

    The pairwise formulation uses `pairs`, the others `labels`, of length n.
    """

    question: str
    answers: tuple[CandidateText, ...]
    pairs: tuple[PreferredPair, ...] = ()
    labels: tuple[float, ...] = ()


def compared(group: Group) -> Element:
    """Return all comparisons of a question as one element, with each answer once (InstructGPT §3.4).

    If answers are in several pairs, weights are lowered: `n` answers weigh at most as much as n / 2 pairs.
    """
    places: dict[CandidateText, int] = {}
    pairs = []
    for comparison in group.comparisons:
        first, second = (places.setdefault(each, len(places)) for each in _candidates(comparison))
        pairs.append(PreferredPair(first, second, comparison.preference, comparison.weight))
    total = sum(pair.weight for pair in pairs)
    scale = min(1.0, len(places) / 2 / total) if total else 0.0
    return Element(
        group.question, tuple(places), tuple(pair._replace(weight=pair.weight * scale) for pair in pairs)
    )


def without_ties(groups: Sequence[Group]) -> list[Group]:
    """Return the groups without ties; a group that has no other comparison is left out."""
    kept = [
        replace(group, comparisons=tuple(each for each in group.comparisons if each.preference != TIE))
        for group in groups
    ]
    return [group for group in kept if group.comparisons]


def elements(
    groups: Sequence[Group], voted: Sequence[Voted], formulation: Formulation, seed: int
) -> list[Element]:
    """Return the training elements of a formulation.

    The baselines are those of WebGLM §5.4.3. Classification: the label is 1 for the answers with the most
    votes, at most five, and 0 for as many answers to other questions. Regression: the label is log2(votes +
    1), divided by the question's highest, and -1 for answers to other questions, as many as the sum of those.
    In a question without votes, each answer counts the share of its comparisons that it wins.
    """
    pairwise = [compared(group) for group in groups]
    if formulation == "pairwise":
        return pairwise
    counted = {each.group for each in voted}
    known = [_by_votes(each) for each in voted]
    known += [
        _by_wins(element) for group, element in zip(groups, pairwise, strict=True) if group.key not in counted
    ]
    chance = random.Random(f"{seed} {formulation}")  # noqa: S311
    if formulation == "classification":
        best = filter(lambda element: element.answers, map(_positives, known))
        return [_with_negatives(element, known, 0.0, chance) for element in best]
    return [_with_negatives(element, known, _NEGATIVE_LABEL, chance) for element in known]


def _by_votes(voted: Voted) -> Element:
    values = [math.log2(max(answer.votes, 0) + 1) for answer in voted.answers]
    highest = max(values, default=0) or 1.0
    answers = tuple(CandidateText(answer.text, answer.references) for answer in voted.answers)
    return Element(voted.question, answers, labels=tuple(value / highest for value in values))


def _by_wins(element: Element) -> Element:
    won = [0.0] * len(element.answers)
    met = [0] * len(element.answers)
    for pair in element.pairs:
        for place, share in ((pair.first, pair.preference), (pair.second, 1 - pair.preference)):
            won[place] += share
            met[place] += 1
    labels = tuple(share / max(count, 1) for share, count in zip(won, met, strict=True))
    return Element(element.question, element.answers, labels=labels)


def _positives(element: Element) -> Element:
    """Return the better half of the answers that anybody likes, at most five, each with the label 1."""
    order = sorted(range(len(element.answers)), key=lambda place: -element.labels[place])
    best = order[: min(_POSITIVE, max(1, len(order) // 2))]
    best = [place for place in best if element.labels[place] > 0]
    return Element(
        element.question, tuple(element.answers[place] for place in best), labels=(1.0,) * len(best)
    )


def _with_negatives(
    element: Element, known: Sequence[Element], label: float, chance: random.Random
) -> Element:
    others = [chance.choice(known) for _ in range(int(sum(element.labels)))]
    found = tuple(
        chance.choice(other.answers)
        for other in others
        if other.question != element.question and other.answers
    )
    return Element(element.question, element.answers + found, labels=element.labels + (label,) * len(found))


def _candidates(comparison: Comparison) -> tuple[CandidateText, CandidateText]:
    first, second = comparison.both_references
    return CandidateText(comparison.first, first), CandidateText(comparison.second, second)
