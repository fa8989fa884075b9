"""Statistics of a bootstrap: the funnel of filters, lengths, citations, and the teacher's usage."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np

from citewell.bootstrap.types import Drop, Fault, FilterScores, Outcome, Reason, Sample, TeacherUsage
from citewell.core.text import shorten, squeeze

REASONS: tuple[Reason, ...] = get_args(Reason)
FAULT = "fault"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_EXCERPT = 280  # characters


class FilterStage(NamedTuple):
    """A filter: the numbers of rows that it stopped, and that were left after it."""

    name: str
    stopped: int
    left: int


class RejectedExample(NamedTuple):
    """A row that did not become a sample: its key, question, beginning of its answer or error, and scores."""

    key: str
    question: str
    text: str
    scores: dict[str, float] | None


class Distribution(NamedTuple):
    """The mean and quantiles of a number over the samples."""

    mean: float
    p5: float
    p25: float
    median: float
    p75: float
    p95: float


@dataclass(frozen=True, kw_only=True)
class BootstrapStatistics:
    """Statistics of the rows of a run.

    `measures` are distributions over the samples; `cited` is how many samples cite 0, 1, 2 … references.
    `overlap` has the answers' overlaps with their references, of samples and of dropped answers. `examples`
    are by reason, drawn by a hash of their keys.
    """

    rows: int
    kept: int
    funnel: tuple[FilterStage, ...]
    measures: dict[str, Distribution]
    cited: dict[int, int]
    teachers: dict[str, int]
    usage: TeacherUsage
    examples: dict[str, tuple[RejectedExample, ...]]
    words: tuple[int, ...] = ()
    overlap: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the rows that became samples; 0 without rows."""
        return self.kept / self.rows if self.rows else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`, without the single samples' numbers."""
        return {
            "rows": self.rows,
            "kept": self.kept,
            "share": round(self.share, 4),
            "funnel": [stage._asdict() for stage in self.funnel],
            "measures": {name: _rounded(each._asdict()) for name, each in self.measures.items()},
            "cited": {str(number): count for number, count in self.cited.items()},
            "teachers": self.teachers,
            "usage": msgspec.to_builtins(self.usage),
            "examples": {name: [each._asdict() for each in found] for name, found in self.examples.items()},
        }


@dataclass
class _Collected:
    """The numbers of the samples, by measure."""

    words: list[int] = field(default_factory=list)
    cited: list[int] = field(default_factory=list)
    references: list[int] = field(default_factory=list)
    overlap: list[float] = field(default_factory=list)
    coverage: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        scores = sample.scores
        self.words.append(scores.words)
        self.cited.append(scores.cited)
        self.references.append(len(sample.references))
        self.overlap.append(scores.overlap)
        self.coverage.append(scores.coverage)
        if scores.accuracy is not None:
            self.accuracy.append(scores.accuracy)


def statistics(outcomes: Iterable[Outcome], examples: int = 2) -> BootstrapStatistics:
    """Count the outcomes of a run, with `examples` dropped rows of each reason."""
    collected = _Collected()
    stopped: Counter[str] = Counter()
    teachers: Counter[str] = Counter()
    dropped_overlap: list[float] = []
    drawn: dict[str, list[tuple[int, RejectedExample]]] = {}
    usage = TeacherUsage()
    for outcome in outcomes:
        if isinstance(outcome, Sample):
            collected.add(outcome)
        else:
            reason = FAULT if isinstance(outcome, Fault) else outcome.reason
            stopped[reason] += 1
            # A heap whose first entry has the largest hash: what remains are the smallest.
            heap = drawn.setdefault(reason, [])
            heapq.heappush(heap, (-_point(outcome.key), _example(outcome)))
            if len(heap) > examples:
                heapq.heappop(heap)
        if isinstance(outcome, Drop) and outcome.scores is not None:
            dropped_overlap.append(outcome.scores.overlap)
        usage += outcome.usage
        if not isinstance(outcome, Fault) and not (
            isinstance(outcome, Drop) and outcome.reason == "few_references"
        ):
            teachers[outcome.teacher] += 1  # it was asked
    kept = len(collected.words)
    return BootstrapStatistics(
        rows=kept + stopped.total(),
        kept=kept,
        funnel=_funnel(kept + stopped.total(), stopped),
        measures={name: _distribution(values) for name, values in vars(collected).items() if values},
        cited=dict(sorted(Counter(collected.cited).items())),
        teachers=dict(teachers.most_common()),
        usage=usage,
        examples={
            reason: tuple(example for _, example in sorted(drawn[reason], reverse=True))
            for reason in (FAULT, *REASONS)
            if drawn.get(reason)
        },
        words=tuple(collected.words),
        overlap={"sample": tuple(collected.overlap), "dropped": tuple(dropped_overlap)},
    )


def funnel_table(statistics: BootstrapStatistics) -> str:
    """Return the funnel as lines of text: the filters that stopped rows, and how many were left."""
    lines = [f"{'rows':<20} {statistics.rows:>9,}"]
    for stage in statistics.funnel:
        share = stage.left / statistics.rows
        lines.append(f"- {stage.name:<18} {stage.stopped:>9,}   {stage.left:>9,} left, {share:.1%}")
    lines.append(f"{'kept':<20} {statistics.kept:>9,}   {statistics.share:.1%} of the rows")
    return "\n".join(lines)


def summary(statistics: BootstrapStatistics) -> str:
    """Return the funnel, the measures, the teacher's usage and examples, as text."""
    parts = [funnel_table(statistics)]
    if statistics.measures:
        header = f"{'of a sample':<20} {'mean':>8}" + "".join(f"{f'p{q * 100:g}':>8}" for q in _QUANTILES)
        parts.append("\n".join([header, *(_measure_line(*each) for each in statistics.measures.items())]))
        cited = ", ".join(f"{count:,} cite {number}" for number, count in statistics.cited.items())
        parts.append(f"references cited: {cited}")
    used = statistics.usage
    if used.requests:
        parts.append(
            f"teacher: {used.requests:,} requests, {used.prompt_tokens:,} prompt tokens, "
            f"{used.answer_tokens:,} answer tokens, cost {used.cost:,.2f}"
        )
    for reason, examples in statistics.examples.items():
        lines = [f"dropped for {reason}:" if reason != FAULT else "failed:"]
        for each in examples:
            scores = "".join(f"; {name} {value:g}" for name, value in (each.scores or {}).items())
            question, text = _printable(each.question), _printable(each.text)
            lines += [f"  {_printable(each.key)}: {question}{scores}", f"    {text or '(nothing)'}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _funnel(rows: int, stopped: Counter[str]) -> tuple[FilterStage, ...]:
    stages, left = [], rows
    for name in (FAULT, *REASONS):
        if stopped[name]:
            left -= stopped[name]
            stages.append(FilterStage(name, stopped[name], left))
    return tuple(stages)


def _point(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])


def _example(outcome: Drop | Fault) -> RejectedExample:
    text = outcome.error if isinstance(outcome, Fault) else outcome.raw_answer
    scores = None if isinstance(outcome, Fault) or outcome.scores is None else _shown(outcome.scores)
    question = shorten(squeeze(outcome.question), _EXCERPT)
    return RejectedExample(outcome.key, question, shorten(squeeze(text), _EXCERPT), scores)


def _printable(text: str) -> str:
    """Return the text without control characters, which teachers may write."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _shown(scores: FilterScores) -> dict[str, float]:
    shown = {"overlap": scores.overlap, "cited": scores.cited, "words": scores.words}
    if scores.accuracy is not None:
        shown["accuracy"] = scores.accuracy
    return _rounded(shown)


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def _distribution(values: list[int] | list[float]) -> Distribution:
    return Distribution(float(np.mean(values)), *(float(each) for each in np.quantile(values, _QUANTILES)))


def _measure_line(name: str, distribution: Distribution) -> str:
    shown = (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in distribution)
    return f"{name:<20} " + "".join(f"{each:>8}" for each in shown)
