"""The losses and metrics of a run as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.training.progress import dev_metrics

PLOT = "training.png"

_NO_LOSS = {"grad_norm", "learning_rate", "epoch", "step"}

Curves = dict[str, list[tuple[float, float]]]
"""Points (step, value) by name."""


class Panel(NamedTuple):
    """Curves with a title, and a label of their values; `from_zero` begins the axis there.

    No line joins the points of the curves in `scattered`, which are too few for one.
    """

    title: str
    label: str
    curves: Curves
    from_zero: bool = False
    scattered: frozenset[str] = frozenset()


def draw(history: Sequence[dict[str, Any]], file: Path) -> None:
    """Plot losses and, in a second panel, other dev metrics; `history` is the trainer's log."""
    dev = _curves((entry["step"], dev_metrics(entry)) for entry in history)
    metrics = {name: points for name, points in dev.items() if not name.endswith("loss")}
    losses = _losses(history) | {name: points for name, points in dev.items() if name.endswith("loss")}
    panels = [Panel("Loss", "loss, mean since the last point", losses, from_zero=True)]
    draw_panels([*panels, *([Panel("Dev metrics", "0 to 1", metrics)] if metrics else [])], file)


def draw_panels(panels: Sequence[Panel], file: Path, steps: str = "step") -> None:
    """Plot panels over `steps`, at most three side by side; a name has the same color in all."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("agg")
    rows = -(-len(panels) // 3)
    columns = -(-len(panels) // rows)
    figure = Figure(figsize=(5 * columns, 4 * rows), layout="constrained")
    names = dict.fromkeys(name for panel in panels for name in panel.curves)
    colors = {name: f"C{place % 10}" for place, name in enumerate(names)}
    all_axes = figure.subplots(rows, columns, squeeze=False).flat
    for axes, panel in zip_longest(all_axes, panels):
        if panel is None:
            axes.remove()
            continue
        _plot(axes, panel, steps, colors)
        if panel.curves and panel.from_zero:
            axes.set_ylim(bottom=0)
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


def _plot(axes: Any, panel: Panel, steps: str, colors: Mapping[str, str]) -> None:
    for name, points in panel.curves.items():
        style = {"linestyle": "", "markersize": 7} if name in panel.scattered else {"markersize": 2}
        axes.plot(*zip(*points, strict=True), label=name, color=colors[name], marker="o", **style)
    axes.set(title=panel.title, xlabel=steps, ylabel=panel.label)
    axes.grid(alpha=0.3)
    if panel.curves:
        axes.legend()
