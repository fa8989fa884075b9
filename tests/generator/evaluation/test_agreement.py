"""Two judges that agree by chance have a kappa of 0, and two that say the same one of 1."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.generator.evaluation.agreement import agreement_table, agreements
from citewell.generator.evaluation.judges.judge import CachingJudge, ClaimAndPassages

PAIRS = [ClaimAndPassages(f"Claim {place}.", ("Text.",)) for place in range(8)]


class Accepts:
    """A judge that accepts the claims with these places."""

    def __init__(self, name: str, places: Sequence[int]) -> None:
        self.name = name
        self._accepted = {PAIRS[place] for place in places}

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        return [pair in self._accepted for pair in pairs]


def judged(name: str, places: Sequence[int], pairs: Sequence[ClaimAndPassages] = PAIRS) -> CachingJudge:
    judge = CachingJudge(Accepts(name, places))
    judge.supports(pairs)
    return judge


@pytest.mark.parametrize(
    ("places", "agreed", "kappa"),
    [
        ([0, 1, 2, 3], 1.0, 1.0),
        ([4, 5, 6, 7], 0.0, -1.0),
        ([0, 1, 4, 5], 0.5, 0.0),
        ([0, 1, 2, 4], 0.75, 0.5),
        ([], 0.5, 0.0),
    ],
)
def test_kappa_is_agreement_beyond_chance(places: list[int], agreed: float, kappa: float) -> None:
    (found,) = agreements([judged("one", [0, 1, 2, 3]), judged("other", places)])
    assert (found.judges, found.pairs, found.agreed) == (("one", "other"), 8, agreed)
    assert found.kappa == pytest.approx(kappa)


def test_only_pairs_that_both_judged_count() -> None:
    first, second = judged("one", [0], PAIRS[:3]), judged("other", [1], PAIRS[2:])
    (found,) = agreements([first, second])
    assert (found.pairs, found.agreed, found.kappa) == (1, 1.0, 1.0)
    assert "| one and other | 1 | 0.00 and 0.00 | 1.00 | 1.00 |" in agreement_table([found])
    assert agreements([judged("one", [], PAIRS[:1]), judged("other", [], PAIRS[1:])]) == ()
