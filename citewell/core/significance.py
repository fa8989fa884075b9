"""Whether two systems differ: paired randomisation test, bootstrap interval, Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from citewell.core.tables import markdown_table

SAMPLES = 10_000
_SEED = 20_230_616
_BLOCK = 4_000_000  # random numbers that are drawn at a time
_CONFIDENCE = 0.95
TEST = (
    "p: two-sided paired randomisation test with 10,000 permutations, also with Holm's correction for the "
    "number of systems. Interval: bootstrap over questions, 10,000 samples. Better and worse count questions."
)
"""What the columns of `differences_table` mean."""


@dataclass(frozen=True)
class PairedComparison:
    """How a system differs from the baseline in one measure, over the same queries.

    `difference` is the mean of system minus baseline, and `low` to `high` its 95% confidence interval. `p` is
    two-sided; `p_holm` is p after the correction for the number of systems.
    """

    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    better: int
    worse: int
    queries: int


def compare(system: Mapping[str, float], baseline: Mapping[str, float]) -> PairedComparison:
    """Compare the values of the same queries.

    p is that of the randomisation test (Fisher; Smucker, Allan and Carterette 2007,
    https://doi.org/10.1145/1321440.1321528): the share of 10,000 random exchanges of the two systems' values,
    query by query, whose mean difference is at least as far from zero. The interval holds the middle 95% of
    the mean differences of 10,000 bootstrap samples of queries. Both are seeded, so that they come out the
    same again.
    """
    differences = np.array([system[query] - baseline[query] for query in baseline])
    generator = np.random.default_rng(_SEED)
    low, high = np.quantile(
        _bootstrap(differences, generator), [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]
    )
    p = _randomisation(differences, generator)
    return PairedComparison(
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=p,
        p_holm=p,
        better=int((differences > 0).sum()),
        worse=int((differences < 0).sum()),
        queries=len(differences),
    )


def compare_all(
    systems: Mapping[str, Mapping[str, float]], baseline: Mapping[str, float]
) -> dict[str, PairedComparison]:
    """Compare each system with the baseline, and correct p for their number."""
    return corrected({name: compare(values, baseline) for name, values in systems.items()})


def corrected(comparisons: Mapping[str, PairedComparison]) -> dict[str, PairedComparison]:
    """The comparisons with p corrected for their number.

    Holm 1979 (https://www.jstor.org/stable/4615733): the smallest of n values of p is multiplied by n, the
    next by n - 1, and so on; none becomes smaller than the one before, nor greater than 1.
    """
    found = dict(comparisons)
    least = 0.0
    for place, name in enumerate(sorted(found, key=lambda name: found[name].p)):
        least = max(least, min(1.0, found[name].p * (len(found) - place)))
        found[name] = replace(found[name], p_holm=least)
    return found


def interval(values: Mapping[str, float]) -> tuple[float, float]:
    """The bootstrapped 95% confidence interval of a mean over queries, from low to high."""
    means = _bootstrap(np.array(list(values.values())), np.random.default_rng(_SEED))
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def differences_table(comparisons: Mapping[str, Mapping[str, PairedComparison]]) -> str:
    """How each system differs from the baseline, one row a system and measure."""
    header = ["system", "measure", "difference", "95% interval", "p", "p (Holm)", "better", "worse"]
    rows = [
        [
            name,
            measure,
            f"{found.difference:+.4f}",
            f"{found.low:+.4f} to {found.high:+.4f}",
            f"{found.p:.4f}",
            f"{found.p_holm:.4f}",
            f"{found.better:,}",
            f"{found.worse:,}",
        ]
        for measure, systems in comparisons.items()
        for name, found in systems.items()
    ]
    return markdown_table(header, rows)


def _bootstrap(values: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    size = len(values)
    blocks = [values[generator.integers(0, size, (rows, size))].mean(axis=1) for rows in _blocks(size)]
    return np.concatenate(blocks)


def _randomisation(differences: NDArray[np.float64], generator: np.random.Generator) -> float:
    size = len(differences)
    # What is equal but for rounding is as far from zero.
    least = abs(differences.mean()) - 1e-12
    extreme = 0
    for rows in _blocks(size):
        signs = generator.integers(0, 2, (rows, size), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ differences / size) >= least).sum())
    return (extreme + 1) / (SAMPLES + 1)


def _blocks(size: int) -> list[int]:
    rows = max(1, min(SAMPLES, _BLOCK // size))
    return [min(rows, SAMPLES - done) for done in range(0, SAMPLES, rows)]
