"""Statistical significance: paired randomization test, bootstrap confidence interval, Holm correction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from citewell.core.tables import markdown_table

SAMPLES = 10_000
_SEED = 20_230_616
_BLOCK = 4_000_000  # random numbers drawn at a time
_CONFIDENCE = 0.95
TEST = (
    "p-value: two-sided paired randomization test with 10,000 permutations; Holm: corrected for the number "
    "of systems. 95% CI: bootstrap over questions, 10,000 samples. Better and worse count questions."
)
"""Explains the columns of `differences_table`."""


@dataclass(frozen=True)
class PairedComparison:
    """How a system differs from the baseline in one metric, over the same queries.

    `difference` is the mean of system minus baseline, and `low` to `high` its 95% confidence interval. `p` is
    the two-sided p-value; `p_holm` is corrected for the number of systems. `better`, `worse` and `queries`
    are counts of queries.
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
    """Compare the values, by query, of a system and a baseline.

    The p-value is that of the randomization test (Fisher; Smucker, Allan and Carterette 2007,
    https://doi.org/10.1145/1321440.1321528): the share of 10,000 random exchanges of the two systems' values,
    query by query, whose mean difference is at least as far from zero. The confidence interval holds the
    middle 95% of the mean differences of 10,000 bootstrap samples of queries. Both use a fixed seed.
    """
    differences = np.array([system[query] - baseline[query] for query in baseline])
    generator = np.random.default_rng(_SEED)
    low, high = np.quantile(
        _bootstrap(differences, generator), [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]
    )
    p = _randomization(differences, generator)
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
    """Compare each system with the baseline, with p-values corrected for the number of systems."""
    return corrected({name: compare(values, baseline) for name, values in systems.items()})


def corrected(comparisons: Mapping[str, PairedComparison]) -> dict[str, PairedComparison]:
    """Return the comparisons with their p-values corrected for multiple testing.

    Holm 1979 (https://www.jstor.org/stable/4615733): the smallest of n p-values is multiplied by n, the next
    by n - 1, and so on; none becomes smaller than the one before, nor greater than 1.
    """
    found = dict(comparisons)
    floor = 0.0
    for index, name in enumerate(sorted(found, key=lambda name: found[name].p)):
        floor = max(floor, min(1.0, found[name].p * (len(found) - index)))
        found[name] = replace(found[name], p_holm=floor)
    return found


def interval(values: Mapping[str, float]) -> tuple[float, float]:
    """Return the bootstrap 95% confidence interval (low, high) of the mean over queries."""
    means = _bootstrap(np.array(list(values.values())), np.random.default_rng(_SEED))
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def differences_table(comparisons: Mapping[str, Mapping[str, PairedComparison]]) -> str:
    """Return a Markdown table of differences from the baseline, one row per system and metric."""
    header = ["system", "metric", "difference", "95% CI", "p-value", "p-value (Holm)", "better", "worse"]
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


def _randomization(differences: NDArray[np.float64], generator: np.random.Generator) -> float:
    size = len(differences)
    # The tolerance makes differences that are equal up to rounding count as equal.
    observed = abs(differences.mean()) - 1e-12
    extreme = 0
    for rows in _blocks(size):
        signs = generator.integers(0, 2, (rows, size), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ differences / size) >= observed).sum())
    return (extreme + 1) / (SAMPLES + 1)


def _blocks(size: int) -> list[int]:
    rows = max(1, min(SAMPLES, _BLOCK // size))
    return [min(rows, SAMPLES - done) for done in range(0, SAMPLES, rows)]
