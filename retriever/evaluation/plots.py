"""Two plots of an evaluation: quality against latency, and each question's difference to the baseline."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from citewell.core.significance import interval
from citewell.retriever.evaluation.measures import means
from citewell.retriever.evaluation.report import RetrievalEvaluation

_DPI = 150
_COLUMNS = 3  # of the legend
_NAME = 28  # characters of a name that are shown


def draw(evaluation: RetrievalEvaluation, folder: Path) -> list[Path]:
    """Write the plots of the first measure as PNG files; return them.

    With one system there are no differences, and only one plot.
    """
    drawn = {"quality_latency.png": _quality_latency(evaluation)}
    if len(evaluation.outcomes) > 1:
        drawn["differences.png"] = _differences(evaluation)
    files = []
    for name, figure in drawn.items():
        files.append(folder / name)
        figure.savefig(files[-1], dpi=_DPI)
    return files


def _quality_latency(evaluation: RetrievalEvaluation) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    measure = evaluation.measures[0]
    rows = math.ceil(len(evaluation.outcomes) / _COLUMNS)
    figure = Figure(figsize=(7.5, 4.5 + 0.2 * rows), layout="constrained")
    axes = figure.subplots()
    for outcome in evaluation.outcomes:
        value = means(outcome.values)[measure]
        low, high = interval(outcome.values[measure])
        if outcome.speed is None:
            label = f"{_short(outcome.name)} ({value:.3f}), a run"
            axes.axhline(value, linestyle="--", linewidth=1, color="grey", label=label)
            continue
        axes.errorbar(
            outcome.speed.p50,
            value,
            yerr=[[value - low], [high - value]],
            fmt="o",
            capsize=3,
            label=f"{_short(outcome.name)} ({value:.3f})",
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
    axes.margins(x=0.1)
    axes.set_xlabel("latency of a question, median, milliseconds (logarithmic)")
    axes.set_ylabel(f"{measure}, with 95% interval")
    axes.set_title(f"{_short(evaluation.task)}: quality against latency, {evaluation.questions:,} questions")
    axes.grid(visible=True, alpha=0.3, which="both")
    figure.legend(loc="outside lower center", ncols=_COLUMNS, frameon=False)
    return figure


def _differences(evaluation: RetrievalEvaluation) -> Any:
    from matplotlib.figure import Figure

    measure = evaluation.measures[0]
    values = {outcome.name: outcome.values[measure] for outcome in evaluation.outcomes}
    base = values.pop(evaluation.baseline)
    figure = Figure(figsize=(7.5, 1.4 + 1.7 * len(values)), layout="constrained")
    rows = figure.subplots(len(values), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (name, mine) in zip(rows, values.items(), strict=True):
        differences = sorted((mine[query] - base[query] for query in base), reverse=True)
        colors = ["tab:blue" if difference >= 0 else "tab:red" for difference in differences]
        axes.bar(range(1, len(differences) + 1), differences, width=1.0, color=colors)
        axes.axhline(0, color="black", linewidth=0.8)
        found = evaluation.comparisons[measure][name]
        signs = f"{found.better:,} better, {found.worse:,} worse"
        title = f"{_short(name)}: mean {found.difference:+.3f}, p (Holm) {found.p_holm:.4f}; {signs}"
        axes.set_title(title, fontsize="medium")
    figure.suptitle(
        f"{_short(evaluation.task)}: difference of each question to {_short(evaluation.baseline)}"
    )
    figure.supylabel(f"difference in {measure}")
    rows[-1].set_xlabel("questions, by their difference")
    return figure


def _short(name: str) -> str:
    """Shorten a name for a plot; of a path the end is kept."""
    return name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"
