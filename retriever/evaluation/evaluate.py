"""Evaluation of systems on a task, one question at a time: quality and speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from citewell.core.errors import CitewellError, InputError
from citewell.core.ranking_metrics import collect, measure_order
from citewell.retriever.evaluation.measures import Values, measure
from citewell.retriever.evaluation.references import ReferenceTask
from citewell.retriever.evaluation.systems.system import OnProgress, RankedRows, RankingSystem, Rows, Scores
from citewell.retriever.evaluation.task import Corpus, RetrievalTask
from citewell.retriever.evaluation.trec import Run, ranked

_OTHER = "Is it a run of other queries, or of another split?"

OnSystemProgress = Callable[[str, int, int], None]
"""Called with a label, the number of items done, and the number of all items."""


class Speed(NamedTuple):
    """The speed of a system.

    `passages` were read in `seconds`, if they were read in this run. `p50` and `p90` are the median and the
    90th percentile of the time per question, in milliseconds.
    """

    passages: int
    seconds: float
    p50: float
    p90: float

    @property
    def rate(self) -> float:
        """The passages read per second."""
        return self.passages / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, float]:
        """Return plain values, with the rate."""
        return self._asdict() | {"passages_per_second": round(self.rate, 1)}


@dataclass(frozen=True)
class RankingResult:
    """The results of one system; `run` holds the documents that it found.

    The speed of a run that was read from a file is unknown.
    """

    name: str
    values: Values
    run: Run
    speed: Speed | None = None


class FirstStage(NamedTuple):
    """The first-stage run to rerank, cut to `depth`, and notices about it."""

    run: Mapping[str, Rows]
    notices: tuple[str, ...]


def candidates(task: RetrievalTask, run: Run, depth: int) -> FirstStage:
    """Return the candidates of each judged query, in the order of their rows.

    Raises `InputError` when the run has none of the queries.
    """
    found = {
        query: np.array(sorted(task.corpus.rows[document] for document in ranked(run[query])[:depth]))
        for query in task.queries
        if query in run
    }
    if not found:
        raise InputError("The run to rank again has none of the judged queries.", _OTHER)
    notices = []
    if missing := len(task.queries) - len(found):
        notices.append(f"{missing:,} judged queries are not in the run to rank again; they count as zero.")
    return FirstStage(found, tuple(notices))


def evaluate(
    task: RetrievalTask,
    system: RankingSystem,
    depth: int,
    *,
    relevant: int = 1,
    first: Mapping[str, Rows] | None = None,
    on_progress: OnSystemProgress = lambda label, done, total: None,
) -> RankingResult:
    """Measure a system on a BEIR task: its `depth` best documents, or its ranking of the candidates `first`.

    Raises `CitewellError` when the system gives a score that is not a number.
    """
    needed = None if first is None else np.unique(np.concatenate(list(first.values())))
    reading = system.read(task.corpus, needed, _reading(system, on_progress))
    run: dict[str, dict[str, float]] = {}
    clocks = []
    for number, (query, text) in enumerate(task.queries.items(), 1):
        if first is not None and query not in first:
            continue
        started = time.perf_counter()
        if first is None:
            found = reading.searcher.search(text, depth)
        else:
            found = RankedRows(first[query], reading.searcher.score(text, first[query]))
        clocks.append(time.perf_counter() - started)
        _check(system, query, found.scores)
        run[query] = _documents(task.corpus, found)
        on_progress(f"{system.name}: questions", number, len(task.queries))
    speed = _speed(reading.passages, reading.seconds, clocks)
    return RankingResult(system.name, measure(task.qrels, run, relevant), run, speed)


def evaluate_run(task: RetrievalTask, name: str, run: Run, relevant: int = 1) -> RankingResult:
    """Measure a run read from a file; raise `InputError` if it has none of the judged queries."""
    if not task.queries.keys() & run.keys():
        raise InputError(f"The run {name} has none of the judged queries.", _OTHER)
    return RankingResult(name, measure(task.qrels, run, relevant), run)


def evaluate_references(
    task: ReferenceTask,
    system: RankingSystem,
    on_progress: OnSystemProgress = lambda label, done, total: None,
) -> RankingResult:
    """Measure a system's ranking of each question's references.

    Raises `CitewellError` when the system gives a score that is not a number.
    """
    reading = system.read(task.corpus, None, _reading(system, on_progress))
    rows: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    clocks = []
    for number, (name, question) in enumerate(task.questions.items(), 1):
        references = np.array(task.references[name])
        started = time.perf_counter()
        scores = reading.searcher.score(question, references)
        clocks.append(time.perf_counter() - started)
        _check(system, name, scores)
        rows[name] = measure_order(task.labels[name], scores.tolist())
        run[name] = _documents(task.corpus, RankedRows(references, scores))
        on_progress(f"{system.name}: questions", number, len(task.questions))
    return RankingResult(system.name, collect(rows), run, _speed(reading.passages, reading.seconds, clocks))


def _reading(system: RankingSystem, on_progress: OnSystemProgress) -> OnProgress:
    return lambda done, total: on_progress(f"{system.name}: passages", done, total)


def _documents(corpus: Corpus, found: RankedRows) -> dict[str, float]:
    return {
        corpus.ids[row]: score for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True)
    }


def _check(system: RankingSystem, query: str, scores: Scores) -> None:
    if not np.isfinite(scores).all():
        raise CitewellError(
            f"The system {system.name} gives query {query!r} a score that is not a number.",
            "The weights of its model may be damaged.",
        )


def _speed(passages: int, seconds: float, clocks: list[float]) -> Speed:
    p50, p90 = np.quantile(clocks, [0.5, 0.9]) * 1000
    return Speed(passages, round(seconds, 3), round(float(p50), 3), round(float(p90), 3))
