"""The losses and metrics of a run as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from citewell.core.training.progress import dev_metrics

PLOT = "training.png"

_NO_LOSS = {"grad_norm", "learning_rate", "epoch", "step"}

Curves = dict[str, list[tuple[float, float]]]
"""Points (step, value) by name."""


def draw(history: Sequence[dict[str, Any]], file: Path) -> None:
    """Plot losses and, in a second panel, other dev metrics; `history` is the trainer's log."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("agg")
    dev = _curves((entry["step"], dev_metrics(entry)) for entry in history)
    metrics = {name: points for name, points in dev.items() if not name.endswith("loss")}
    losses = _losses(history) | {name: points for name, points in dev.items() if name.endswith("loss")}
    panels = 2 if metrics else 1
    figure = Figure(figsize=(5 * panels, 4), layout="constrained")
    left, *others = figure.subplots(1, panels, squeeze=False)[0]
    _plot(left, losses, "Loss", "loss, mean since the last point")
    if losses:
        left.set_ylim(bottom=0)
    for right in others:
        _plot(right, metrics, "Dev metrics", "0 to 1")
    figure.savefig(file, dpi=120)


def _losses(history: Sequence[dict[str, Any]]) -> Curves:
    """Return the training loss, and its terms if there are several."""
    found = _curves(
        (entry["step"], {name: float(value) for name, value in entry.items() if name not in _NO_LOSS})
        for entry in history
        if "loss" in entry
    )
    return found if len(found) > 2 else {name: points for name, points in found.items() if name == "loss"}


def _curves(entries: Iterable[tuple[float, dict[str, float]]]) -> Curves:
    found: Curves = {}
    for step, values in entries:
        for name, value in values.items():
            found.setdefault(name, []).append((step, value))
    return found


def _plot(axes: Any, curves: Curves, title: str, label: str) -> None:
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), label=name, marker="o", markersize=2)
    axes.set(title=title, xlabel="step", ylabel=label)
    axes.grid(alpha=0.3)
    if curves:
        axes.legend()
