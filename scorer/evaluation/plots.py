"""Plots of scorers: score by rank (WebGLM, Figure 7), calibration, and best of n (WebGPT, Figure 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citewell.scorer.estimator import Curve
from citewell.scorer.evaluation.measures import ECE, Bin, ScorerResult
from citewell.scorer.evaluation.report import ScorerEvaluation

_DPI = 150


def draw(evaluation: ScorerEvaluation, folder: Path) -> list[Path]:
    """Write the plots that have data as PNG files, and return their paths.

    `ranks.png` needs votes, `calibration.png` a scorer that predicts preferences.
    """
    drawn = {}
    if ranked := [outcome for outcome in evaluation.outcomes if outcome.ranks]:
        drawn["ranks.png"] = _ranks(ranked, evaluation.task.name)
    if calibrated := [outcome for outcome in evaluation.outcomes if outcome.calibration]:
        drawn["calibration.png"] = _calibration(calibrated, evaluation.task.name)
    files = []
    for name, figure in drawn.items():
        files.append(folder / name)
        figure.savefig(files[-1], dpi=_DPI)
    return files


def draw_curves(curves: Mapping[str, Curve], file: Path) -> None:
    """Draw the judged value of best of n against n, with intervals, one line per scorer that chooses."""
    figure, axes = _figure()
    for name, curve in curves.items():
        ns = [point.n for point in curve.points]
        (line,) = axes.plot(ns, [point.judged_by for point in curve.points], marker="o", label=name)
        colour = line.get_color()
        axes.fill_between(
            ns, [p.low for p in curve.points], [p.high for p in curve.points], alpha=0.15, color=colour
        )
        chosen = [point.chosen_by for point in curve.points]
        axes.plot(ns, chosen, linestyle=":", linewidth=1, color=colour, label=f"{name}, by its own score")
        if curve.over_optimized:
            axes.axvline(curve.peak, linestyle="--", linewidth=1, color=colour)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axes.set(xlabel="n, candidates", ylabel="score of the best of n", title="Best of n by another scorer")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=_DPI)


def _ranks(outcomes: Sequence[ScorerResult], task: str) -> Any:
    figure, axes = _figure()
    for outcome in outcomes:
        _line(axes, outcome.ranks, outcome.name, scale=100)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set(
        xlabel="rank of the answer by votes: the best at 0%, the worst at 100%",
        ylabel="mean score, in standard deviations",
        title=f"{task}: score by rank",
    )
    axes.legend(frameon=False)
    return figure


def _calibration(outcomes: Sequence[ScorerResult], task: str) -> Any:
    figure, axes = _figure()
    axes.plot([0.5, 1], [0.5, 1], color="grey", linewidth=0.8, label="as predicted")
    for outcome in outcomes:
        if outcome.calibration:
            error = outcome.calibration.measures[ECE]
            _line(axes, outcome.calibration.bins, f"{outcome.name} (error {error:.3f})")
    axes.set(
        xlabel="predicted preference for the answer with the higher score",
        ylabel="how often people prefer it",
        title=f"{task}: predicted and observed preferences",
    )
    axes.legend(frameon=False)
    return figure


def _line(axes: Any, points: Sequence[Bin], label: str, scale: float = 1) -> None:
    # Rounding may put the value outside its interval.
    errors = [
        [max(0.0, point.value - point.low) for point in points],
        [max(0.0, point.high - point.value) for point in points],
    ]
    places = [point.place * scale for point in points]
    values = [point.value for point in points]
    axes.errorbar(places, values, yerr=errors, marker="o", markersize=4, capsize=2, label=label)


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.grid(visible=True, alpha=0.3)
    return figure, axes
