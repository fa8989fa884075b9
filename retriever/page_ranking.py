"""The ranking of one question's pages: pages are added from the event loop, and ranked in threads."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from threading import Lock

from citewell.core.text import encoded_text
from citewell.core.types import Hit, Page, Reference
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.expected_references import expected_references
from citewell.retriever.ranking import Ranking

# Passages encoded at a time, in BM25's order: few, so that a new page does not wait.
# After the last page, the user waits: this number of steps without a change of the references ends the work.
_STEP, _IDLE_STEPS = 4, 2


class PageRanking:
    """The ranking of the pages that have arrived, for several threads that take turns."""

    def __init__(self, *, ranking: Ranking, hits: Sequence[Hit], k: int) -> None:
        """Rank pages of `hits`, which are named by their positions from 0, for the `k` best passages."""
        self._ranking = ranking
        self._hits = hits
        self._k = k
        self._arrived: deque[tuple[int, Page, Vectors | None]] = deque()
        self._lock = Lock()

    def add(self, position: int, page: Page, vectors: Vectors | None = None) -> None:
        """Add the page of the hit at `position`, and its passages' vectors if known; does not block."""
        self._arrived.append((position, page, vectors))

    def advance(self) -> bool:
        """Encode a few more passages, and return whether there were any."""
        with self._lock:
            self._take_arrived()
            return self._ranking.advance(_STEP)

    def expected(self, pending: Sequence[int]) -> float:
        """Return the expected number of references from the pages of the hits at these positions."""
        with self._lock:
            known = self._ranking.known(self._k)
            lowest = known[-1].score if len(known) == self._k else None
            hits = [self._hits[position] for position in pending]
            scores = self._ranking.relevance([encoded_text(hit.title, hit.snippet) for hit in hits])
            return sum(
                expected_references(score, position, lowest)
                for score, position in zip(scores, pending, strict=True)
            )

    def top(self, encode_until: float = math.inf) -> tuple[Reference, ...]:
        """Return the best passages of all pages that arrived.

        All passages are encoded until the time `encode_until` (`time.monotonic`), and after it only as long
        as they change the references.
        """
        with self._lock:
            self._take_arrived()
            if math.isinf(encode_until):  # many passages at once are encoded faster than step by step
                return self._ranking.top(self._k)
            references, idle = self._ranking.known(self._k), 0
            while (idle < _IDLE_STEPS or time.monotonic() < encode_until) and self._ranking.advance(_STEP):
                references, before = self._ranking.known(self._k), references
                idle = 0 if references != before else idle + 1
            return self._ranking.read(self._k)

    def _take_arrived(self) -> None:
        while self._arrived:
            position, page, vectors = self._arrived.popleft()
            self._ranking.add(position, page.passages, page.date, vectors, page.read)
