"""The protocol of systems to evaluate, and the choice of the best rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.evaluation.task import Corpus

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
"""The type of scores, which is trec_eval's, so that a run file has the same order as the run."""

OnProgress = Callable[[int, int], None]
"""Called with the number of passages read, and of all passages."""


class RankedRows(NamedTuple):
    """Rows of the corpus, best first, with their scores."""

    rows: Rows
    scores: Scores


class Searcher(Protocol):
    """A system that has read a corpus."""

    def search(self, question: str, depth: int) -> RankedRows:
        """Return at most `depth` passages, the best of the whole corpus."""
        ...

    def score(self, question: str, rows: Rows) -> Scores:
        """Return the score of each of these rows, which must be among the rows `needed`."""
        ...


class PreparedSearcher(NamedTuple):
    """A searcher, the number of passages it had to read, and the seconds that this originally took."""

    searcher: Searcher
    passages: int
    seconds: float


class RankingSystem(Protocol):
    """A way to rank passages. `name` is its name on the command line."""

    name: str

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Read a corpus; only the rows `needed` will be ranked, None stands for all."""
        ...


def best(scores: Scores, depth: int, corpus: Corpus, rows: Rows | None = None) -> RankedRows:
    """Return the `depth` best rows in trec_eval's order; `scores` are those of `rows`, or of all rows."""
    # NaN comes first, so that it is noticed.
    keys = np.where(np.isfinite(scores), -scores, -np.inf)
    chosen = np.arange(len(keys))
    if depth < len(keys):
        chosen = np.flatnonzero(keys <= np.partition(keys, depth - 1)[depth - 1])
    places = corpus.places[chosen if rows is None else rows[chosen]]
    order = chosen[np.lexsort((places, keys[chosen]))[:depth]]
    return RankedRows(order if rows is None else rows[order], scores[order])
