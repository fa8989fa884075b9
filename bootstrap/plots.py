"""Plots of a bootstrap: its statistics, and a calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from citewell.bootstrap.calibrate import ThresholdSweep, best_of
from citewell.bootstrap.stats import BootstrapStatistics
from citewell.core.errors import CitewellError, InputError
from citewell.core.packages import need_packages

_DPI = 120


def check_plots(file: Path) -> None:
    """Raise `InputError` without the package matplotlib, and for an unknown kind of picture."""
    need_packages("A plot", "eval", "matplotlib")
    if file.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(
            f"{file} is not the name of a picture.", "Use a name that ends in .png, .svg or .pdf."
        )


def draw_statistics(statistics: BootstrapStatistics, file: Path) -> None:
    """Draw the funnel, the lengths of answers, the references that they cite, and overlaps."""
    figure = _figure(10, 7)
    (funnel, lengths), (cited, overlap) = figure.subplots(2, 2)
    names = ["rows", *(stage.name for stage in statistics.funnel)]
    left = [statistics.rows, *(stage.left for stage in statistics.funnel)]
    bars = funnel.barh(names, left)
    funnel.bar_label(bars, labels=[f"{count:,}" for count in left], padding=3)
    funnel.invert_yaxis()
    funnel.set(title="Rows left after each filter", xlabel="rows")
    funnel.margins(x=0.2)
    lengths.hist(statistics.words, bins=40)
    lengths.set(title="Length of the samples' answers", xlabel="words", ylabel="samples")
    cited.bar(list(statistics.cited), list(statistics.cited.values()))
    cited.set(title="References that an answer cites", xlabel="references", ylabel="samples")
    cited.set_xticks(list(statistics.cited))
    kinds = {name: values for name, values in statistics.overlap.items() if values}
    overlap.hist(list(kinds.values()), bins=40, range=(0, 1), stacked=True, label=list(kinds))
    overlap.set(title="Overlap of answers with all their references", xlabel="overlap", ylabel="answers")
    if kinds:
        overlap.legend()
    _save(figure, file)


def draw_calibration(calibration: ThresholdSweep, file: Path) -> None:
    """Draw precision, recall and F1 of "good sample" against the threshold, for each measure."""
    figure = _figure(11, 7)
    rows = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, curve in zip(rows.flat, calibration.curves, strict=True):
        thresholds = [point.threshold for point in curve]
        # Without accepted samples, there is no precision.
        accepting = [point for point in curve if point.recall]
        axes.plot([p.threshold for p in accepting], [p.precision for p in accepting], label="precision")
        axes.plot(thresholds, [point.recall for point in curve], label="recall")
        axes.plot(thresholds, [point.f1 for point in curve], label="F1", linewidth=2.2)
        best = best_of(curve)
        axes.axvline(best.threshold, color="gray", linestyle="--", linewidth=1)
        name = f"{best.measure}, {best.share}: best F1 {best.f1:.3f} at {best.threshold:g}"
        axes.set(title=name, xlabel="threshold", ylabel='of "good sample"', ylim=(0, 1.02))
        axes.grid(alpha=0.3)
    rows[0, 0].legend()
    _save(figure, file)


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, dpi=_DPI)
    except OSError as error:
        raise CitewellError(f"{file} cannot be written: {error.strerror}.", "Name another file.") from error
