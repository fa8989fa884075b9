"""Best of n for one question: how many candidates to write, and which of them wins.

WebGPT (§3.2) writes 4, 16 or 64 candidates. Here `n` can adapt to the question: candidates are written in
rounds, each as large as all before it together, and no further round is begun when one more candidate is
expected to raise the best value by less than `min_gain` standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from citewell.core.types import Reference, Sentence
from citewell.scorer.choice import Choice, choose, standing
from citewell.scorer.scorer import Scorer

FIRST_ROUND = 4
_NORMAL = NormalDist()


class BestOf:
    """The choice among a question's candidates, each scored once, as it is written.

    Candidates with the same sentences are one candidate, whatever their marks were before they were checked.
    """

    def __init__(
        self,
        scorer: Scorer,
        question: str,
        references: Sequence[Reference],
        *,
        most: int,
        min_gain: float = 0.0,
    ) -> None:
        """Write at most `most` candidates; just as many if `min_gain` is 0 or scores are not standardized."""
        self._scorer = scorer
        self._question = question
        self._references = references
        self._most = most
        self._min_gain = min_gain if scorer.standardized else 0.0
        self._ended = False
        self._scores: dict[tuple[str, ...], float] = {}
        self._values: list[float] = []
        self.candidates: list[tuple[Sentence, ...]] = []
        """The different candidates so far, in the order in which they were written."""
        self.written = 0
        """How many were written, equal and empty ones too."""

    @property
    def wanted(self) -> int:
        """How many candidates to write next; 0 when there are enough."""
        if self._ended or self.written >= self._most:
            return 0
        if not self._min_gain:
            return self._most - self.written
        if self._values and expected_gain(self._values) < self._min_gain:
            return 0
        return next_round(self.written, self._most)

    def add(self, candidates: Sequence[tuple[Sentence, ...]], *, written: int) -> None:
        """Take a round's candidates, of which `written` were written; those without sentences are left out.

        A generator that wrote fewer than were wanted, or nothing new, is not asked for more.
        """
        asked = self.wanted
        self.written += written
        keys = [tuple(sentence.text for sentence in of) for of in candidates if of]
        found = dict(zip(keys, filter(None, candidates), strict=True))
        new = [key for key in found if key not in self._scores]
        self._ended = written < asked or not new
        scores = self._scorer.score(self._question, [found[key] for key in new], self._references)
        self._scores |= dict(zip(new, scores, strict=True))
        self.candidates += [found[key] for key in new]
        margin = self._scorer.margin
        # Equal candidates have equal support: the same sentences are checked against the same references.
        self._values += [standing(self._scores[key], found[key], margin).adjusted_score for key in keys]

    def choice(self) -> Choice | None:
        """The winner among `candidates`; None where there are none. Raises `ModelError` as `choose` does."""
        if not self.candidates:
            return None
        return choose(list(self._scores.values()), self.candidates, self._scorer.margin)


def next_round(written: int, most: int) -> int:
    """How many candidates to write when `written` are there and `most` may be: 4, then as many as there are.

    No candidate is left over for a round of its own: a generator writes a single one without sampling.
    """
    left = most - written
    size = min(max(FIRST_ROUND, written), left)
    return left if left - size == 1 else size


def expected_gain(values: Sequence[float]) -> float:
    """By how much one more candidate is expected to raise the greatest of `n` values, at least one.

    The expected improvement under a normal distribution (Jones, Schonlau and Welch 1998,
    https://doi.org/10.1023/A:1008306431147, eq. 15). Its mean and variance are those of the values and of one
    more that counts as a draw from the standard normal distribution of all scores, so that two values which
    happen to be alike do not end the search.
    """
    size = len(values) + 1
    mean = sum(values) / size
    variance = (1 + mean**2 + sum((value - mean) ** 2 for value in values)) / size
    deviation = math.sqrt(variance)
    distance = (max(values) - mean) / deviation
    return deviation * (_NORMAL.pdf(distance) - distance * (1 - _NORMAL.cdf(distance)))
