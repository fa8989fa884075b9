"""Agreement of scores with people: WebGLM's Table 9, the effect of length, and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from citewell.core.ranking_metrics import N_NDCG, PAIRS, SPEARMAN, has_order, measure_order
from citewell.core.ranking_metrics import spearman as rank_correlation
from citewell.scorer.evaluation.clusters import ClusterShare, Estimate, Parts, mean, share, weighted
from citewell.scorer.evaluation.task import AnswerPair, Item, ScoringTask
from citewell.scorer.training.measures import MATCHED

MATCHED_PAIRS = "length-matched accuracy"
LONGER = "prefers the longer"
LENGTH = "Spearman with length"
MEASURES = (PAIRS, MATCHED_PAIRS, SPEARMAN, N_NDCG, LONGER, LENGTH)
QUALITY = (PAIRS, MATCHED_PAIRS, SPEARMAN, N_NDCG)
"""The measures for which higher is better."""
ECE, LOG_LOSS, BRIER = "calibration error", "log loss", "Brier score"

RANK_BINS = 10
_PREFERENCE_BINS = 10

Scores = Mapping[str, Sequence[float]]
"""A system's scores of each question's answers, by the question's key."""


class Bin(NamedTuple):
    """A point of a plot: its position, its value with the 95% interval, and the `number` of items."""

    place: float
    value: float
    low: float
    high: float
    number: int


@dataclass(frozen=True)
class PreferenceCalibration:
    """Agreement of predicted preferences with observed ones.

    The position of a bin is the mean predicted preference for the answer that the scorer prefers, from .5;
    its value is how often people prefer that answer. `measures` are the mean distance of the two (expected
    calibration error), the log loss and the Brier score of all predictions.
    """

    bins: tuple[Bin, ...]
    measures: Mapping[str, float]


@dataclass(frozen=True)
class ScorerResult:
    """The results of one system.

    `values` has a number per question for each measure, whose mean is the measure: for paired tests. `ranks`
    are the mean standardized scores of answers by their rank, from 0 (best) to 1 (worst).
    """

    name: str
    estimates: Mapping[str, Estimate]
    values: Mapping[str, Mapping[str, float]]
    ranks: tuple[Bin, ...] = ()
    calibration: PreferenceCalibration | None = None
    seconds: float = 0.0


def measure(
    name: str,
    task: ScoringTask,
    scores: Scores,
    preference: Callable[[float, float], float] | None = None,
    seconds: float = 0.0,
) -> ScorerResult:
    """Measure the scores of one system.

    Accuracies are shares of all pairs except ties; equal scores count half, and the lengths of length-matched
    pairs differ by at most a tenth of the longer. Spearman and N-NDCG are means over the questions whose
    answers have different votes. `seconds` is the time spent on scoring.
    """
    ratios = {
        PAIRS: _parts(task, scores, _right, lambda item, pair: pair.preference != 0.5),
        MATCHED_PAIRS: _parts(task, scores, _right, _is_matched),
        LONGER: _parts(task, scores, _prefers_longer, _is_uneven),
    }
    means = _within(task, scores)
    estimates = {key: share(parts) for key, parts in ratios.items()}
    estimates |= {key: mean(values) for key, values in means.items()}
    values = {key: weighted(parts) for key, parts in ratios.items() if parts} | means
    return ScorerResult(
        name,
        {key: found for key in MEASURES if (found := estimates[key]) is not None},
        {key: values[key] for key in MEASURES if values.get(key)},
        _ranks(task, scores) if task.has_votes else (),
        _calibration(task, scores, preference) if preference else None,
        seconds,
    )


def _parts(
    task: ScoringTask,
    scores: Scores,
    hit: Callable[[Item, AnswerPair, Sequence[float]], float],
    counts: Callable[[Item, AnswerPair], bool],
) -> dict[str, ClusterShare]:
    found = {}
    for item in task.items:
        chosen = [pair for pair in item.pairs if counts(item, pair)]
        if chosen:
            hits = sum(hit(item, pair, scores[item.key]) for pair in chosen)
            found[item.key] = ClusterShare(hits, len(chosen))
    return found


def _right(item: Item, pair: AnswerPair, scores: Sequence[float]) -> float:
    told = np.sign(scores[pair.first] - scores[pair.second]) * np.sign(pair.preference - 0.5)
    return float(told + 1) / 2


def _prefers_longer(item: Item, pair: AnswerPair, scores: Sequence[float]) -> float:
    lengths = item.lengths
    told = np.sign(scores[pair.first] - scores[pair.second]) * np.sign(
        lengths[pair.first] - lengths[pair.second]
    )
    return float(told + 1) / 2


def _is_matched(item: Item, pair: AnswerPair) -> bool:
    first, second = item.lengths[pair.first], item.lengths[pair.second]
    return pair.preference != 0.5 and abs(first - second) <= MATCHED * max(first, second)


def _is_uneven(item: Item, pair: AnswerPair) -> bool:
    return item.lengths[pair.first] != item.lengths[pair.second]


def _within(task: ScoringTask, scores: Scores) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {SPEARMAN: {}, N_NDCG: {}, LENGTH: {}}
    for item in task.items:
        own = scores[item.key]
        if has_order(item.votes):
            measured = measure_order(item.votes, own)
            for name in (SPEARMAN, N_NDCG):
                found[name][item.key] = measured[name]
        if item.votes and has_order(item.lengths):
            found[LENGTH][item.key] = rank_correlation(np.array(item.lengths, float), np.array(own, float))
    return found


def _ranks(task: ScoringTask, scores: Scores) -> tuple[Bin, ...]:
    """Return Figure 7 of WebGLM: the mean score of answers by their rank, in `RANK_BINS` bins.

    Scores are standardized over all answers, so that systems can be compared.
    """
    every = np.array([score for item in task.items for score in scores[item.key]])
    centre, scale = every.mean(), every.std() or 1.0
    bins: list[dict[str, ClusterShare]] = [{} for _ in range(RANK_BINS)]
    for item in task.items:
        if not has_order(item.votes):
            continue
        votes = np.array(item.votes)
        below, same = (votes[:, None] < votes).sum(axis=1), (votes[:, None] == votes).sum(axis=1) - 1
        places = (below + same / 2) / (len(votes) - 1)
        for place, score in zip(places, scores[item.key], strict=True):
            at = bins[min(RANK_BINS - 1, int(place * RANK_BINS))]
            before = at.get(item.key, ClusterShare(0.0, 0.0))
            at[item.key] = ClusterShare(before.hits + float((score - centre) / scale), before.total + 1)
    return tuple(_points(bins, [(at + 0.5) / RANK_BINS for at in range(RANK_BINS)]))


def _calibration(
    task: ScoringTask, scores: Scores, preference: Callable[[float, float], float]
) -> PreferenceCalibration:
    predicted, observed, keys = [], [], []
    for item in task.items:
        own = scores[item.key]
        for first, second, people in item.pairs:
            chance = preference(own[first], own[second])
            predicted.append(max(chance, 1 - chance))
            observed.append(people if chance >= 0.5 else 1 - people)
            keys.append(item.key)
    chances, seen = np.array(predicted), np.array(observed)
    order = np.argsort(chances, kind="stable")
    bins, places = [], []
    for some in np.array_split(order, min(_PREFERENCE_BINS, len(order))):
        parts: dict[str, ClusterShare] = {}
        for place in some:
            before = parts.get(keys[place], ClusterShare(0.0, 0.0))
            parts[keys[place]] = ClusterShare(before.hits + observed[place], before.total + 1)
        bins.append(parts)
        places.append(float(chances[some].mean()))
    points = tuple(_points(bins, places))
    safe = np.clip(chances, None, 1 - 1e-12)
    total = sum(point.number for point in points)
    return PreferenceCalibration(
        points,
        {
            ECE: sum(point.number * abs(point.place - point.value) for point in points) / total,
            LOG_LOSS: float(-(seen * np.log(safe) + (1 - seen) * np.log1p(-safe)).mean()),
            BRIER: float(((chances - seen) ** 2).mean()),
        },
    )


def _points(bins: Sequence[Parts], places: Sequence[float]) -> Iterator[Bin]:
    for parts, place in zip(bins, places, strict=True):
        found = share(parts)
        if found is not None and math.isfinite(found.value):
            yield Bin(place, found.value, found.low, found.high, found.number)
