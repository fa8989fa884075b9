"""The course of a run as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.core.training.progress import dev_metrics

PLOT = "training.png"


def draw(history: Sequence[dict[str, Any]], file: Path, mean: str) -> None:
    """Plot the loss and its parts, and the dev metrics, against steps; `history` is the trainer's log.

    A dev metric whose name ends in `loss` is drawn with the loss. `mean` is the name of the mean over all dev
    metrics, which is left out where there is only one. Where all dev metrics are losses, that is all.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("agg")
    evaluations = [(entry["step"], dev_metrics(entry)) for entry in history]
    names = list(dict.fromkeys(name for _, metrics in evaluations for name in metrics))
    if len(names) == 2 and mean in names:
        names.remove(mean)
    panels = 1 if all(name.endswith("loss") for name in names) else 2
    figure = Figure(figsize=(5 * panels, 4), layout="constrained")
    left, *others = figure.subplots(1, panels, squeeze=False)[0]
    losses = [entry for entry in history if "loss" in entry]
    plain = {"grad_norm", "learning_rate", "epoch", "step", "loss"}
    parts = dict.fromkeys(name for entry in losses for name in entry if name not in plain)
    for name in ("loss", *(parts if len(parts) > 1 else ())):
        points = [(entry["step"], float(entry[name])) for entry in losses if name in entry]
        label = "all" if name == "loss" else name
        left.plot(*zip(*points, strict=True), label=label, linewidth=1.8 if name == "loss" else 1.0)
    left.set(title="Loss", xlabel="step", ylabel="loss, mean since the last point")
    for name in names:
        points = [(step, metrics[name]) for step, metrics in evaluations if name in metrics]
        axes = left if name.endswith("loss") else others[0]
        axes.plot(*zip(*points, strict=True), label=name, marker="o", markersize=3)
    for right in others:
        right.set(title="Dev metrics", xlabel="step", ylabel="measure, 0 to 1")
    if losses:
        left.set_ylim(bottom=0)
    for axes in (left, *others):
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend()
    figure.savefig(file, dpi=120)
