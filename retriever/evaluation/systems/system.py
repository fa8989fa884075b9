"""The protocol of what is evaluated, and how the best rows are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.evaluation.task import Corpus

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
"""What trec_eval compares: a run file says the same as the run."""

OnProgress = Callable[[int, int], None]
"""Called with the number of passages read, and of all passages."""


class RankedRows(NamedTuple):
    """Rows of the corpus, best first, with their scores."""

    rows: Rows
    scores: Scores


class Searcher(Protocol):
    """A system that has read a corpus."""

    def search(self, question: str, depth: int) -> RankedRows:
        """The `depth` best passages of the whole corpus, or fewer."""
        ...

    def score(self, question: str, rows: Rows) -> Scores:
        """The score of each of these rows, which are known to have been needed."""
        ...


class PreparedSearcher(NamedTuple):
    """A searcher, how many passages it had to read, and how many seconds that took when it was done."""

    searcher: Searcher
    passages: int
    seconds: float


class RankingSystem(Protocol):
    """A way to rank passages. `name` is what people call it on the command line."""

    name: str

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Read a corpus, of which only the rows `needed` will be asked for; None is all of them."""
        ...


def best(scores: Scores, depth: int, corpus: Corpus, rows: Rows | None = None) -> RankedRows:
    """The `depth` best rows, in trec_eval's order; `scores` belongs to `rows`, or to the whole corpus."""
    # What is no number comes first, so that it is seen.
    keys = np.where(np.isfinite(scores), -scores, -np.inf)
    chosen = np.arange(len(keys))
    if depth < len(keys):
        chosen = np.flatnonzero(keys <= np.partition(keys, depth - 1)[depth - 1])
    places = corpus.places[chosen if rows is None else rows[chosen]]
    order = chosen[np.lexsort((places, keys[chosen]))[:depth]]
    return RankedRows(order if rows is None else rows[order], scores[order])
