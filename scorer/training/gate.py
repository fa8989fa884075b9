"""The gate: a scorer that was trained further must not be worse than the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citewell.core.errors import CitewellError
from citewell.core.progress import Log
from citewell.scorer.data.types import Comparison
from citewell.scorer.training.dev import ScorerDevSets
from citewell.scorer.training.measures import measure, scored

TOLERANCE = 0.01
"""Tolerated loss of accuracy: a few hundred comparisons cannot resolve less."""


class GateError(CitewellError):
    """The new scorer was rejected."""


class Gate:
    """A comparison of the accuracy before and after training, on the pinned test."""

    def __init__(self, pinned: Sequence[Comparison], tell: Log, *, force: bool) -> None:
        """With `force`, a worse scorer is reported and accepted."""
        self.pinned = tuple(pinned)
        self._tell = tell
        self._force = force
        self._before: float | None = None

    def before(self, sets: ScorerDevSets, model: Any) -> None:
        """Measure the model before training."""
        self._before = self._accuracy(sets, model)

    def after(self, sets: ScorerDevSets, model: Any) -> Mapping[str, float]:
        """Return the accuracies by name, empty without a pinned test; raises `GateError` if worse."""
        found = self._accuracy(sets, model)
        if found is None or self._before is None:
            return {}
        told = f"accuracy on the pinned test of {len(self.pinned):,} comparisons: "
        told += f"{found:.3f}, the current scorer's {self._before:.3f}"
        self._tell(told)
        if found < self._before - TOLERANCE and not self._force:
            raise GateError(
                f"The new scorer is worse than the current one, and is not written: {told}.",
                "Collect more feedback, or run the command again with --force.",
            )
        return {"pinned_before": self._before, "pinned_after": found}

    def _accuracy(self, sets: ScorerDevSets, model: Any) -> float | None:
        if not self.pinned:
            return None
        return measure(scored(self.pinned, sets.logits(model, self.pinned)))["accuracy"]
