"""How far two judges of citations agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from citewell.core.tables import markdown_table
from citewell.generator.evaluation.judges.judge import CachingJudge, ClaimAndPassages


@dataclass(frozen=True)
class JudgeAgreement:
    """What two judges said of the same `pairs` of claims and passages, in shares of them.

    `kappa` is Cohen's (https://doi.org/10.1177/001316446002000104): 0 if they agree as often as by chance, 1
    if they always agree.
    """

    judges: tuple[str, str]
    pairs: int
    supported: tuple[float, float]
    agreed: float
    kappa: float


def agreements(judges: Sequence[CachingJudge]) -> tuple[JudgeAgreement, ...]:
    """Return the agreement of each two judges, over the pairs that both have judged."""
    found = []
    for one, other in combinations(judges, 2):
        both = [pair for pair in one.verdicts if pair in other.verdicts]
        if both:
            found.append(_agreement((one.name, other.name), both, one.verdicts, other.verdicts))
    return tuple(found)


def agreement_table(found: Sequence[JudgeAgreement]) -> str:
    """Return a Markdown table, one row for each two judges."""
    rows = [
        [
            " and ".join(each.judges),
            f"{each.pairs:,}",
            " and ".join(f"{share:.2f}" for share in each.supported),
            f"{each.agreed:.2f}",
            f"{each.kappa:.2f}",
        ]
        for each in found
    ]
    return markdown_table(["judges", "pairs", "supported", "agreed", "Cohen's kappa"], rows)


def _agreement(
    names: tuple[str, str],
    pairs: Sequence[ClaimAndPassages],
    first: Mapping[ClaimAndPassages, bool],
    second: Mapping[ClaimAndPassages, bool],
) -> JudgeAgreement:
    count = len(pairs)
    supported = (sum(first[each] for each in pairs) / count, sum(second[each] for each in pairs) / count)
    agreed = sum(first[each] is second[each] for each in pairs) / count
    chance = supported[0] * supported[1] + (1 - supported[0]) * (1 - supported[1])
    return JudgeAgreement(
        names, count, supported, agreed, (agreed - chance) / (1 - chance) if chance < 1 else 1.0
    )
