"""Logistic regression on few features, such as the calibration of a score (Platt scaling)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 30
_RIDGE = 1e-6
_STEP = 2.0

Numbers = NDArray[np.float64]


def fit_logistic(
    features: Numbers, truth: NDArray[np.bool_], weights: Numbers | None = None, *, ridge: float = _RIDGE
) -> Numbers:
    """Return the (f,) coefficients and, as the last number, the shift that predict `truth` best.

    `features` is an (n, f) array, and `weights` are (n,) weights of the rows. Targets lie within (0, 1), as
    Platt (1999) has them, which keeps the coefficients finite where a threshold separates all, and `ridge`
    keeps many of them small. A coefficient of 1 and zeros are returned if all of `truth` are equal.
    """
    ones, zeros = int(truth.sum()), int((~truth).sum())
    found = np.zeros(features.shape[1] + 1)
    found[0] = 1.0
    if not ones or not zeros:
        return found
    targets = np.where(truth, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    inputs = np.concatenate([features, np.ones((len(features), 1))], axis=1).T
    counted = np.ones(len(truth)) if weights is None else weights * len(truth) / weights.sum()
    for _ in range(_ROUNDS):  # Newton's method
        predicted = sigmoid(found @ inputs)
        slope = inputs @ (counted * (targets - predicted)) - ridge * found
        curve = (inputs * (counted * predicted * (1 - predicted))) @ inputs.T + ridge * np.eye(len(found))
        found += np.clip(np.linalg.solve(curve, slope), -_STEP, _STEP)
    return found


def sigmoid(values: NDArray[np.floating]) -> Numbers:
    """Return the probabilities of logits, without overflow."""
    return 1 / (1 + np.exp(-np.clip(values.astype(np.float64), -50, 50)))
