"""The courses of runs against their KL divergence, beside best of n, for `benchmarks.answers_ppo`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.answers_ppo_compare import BEST_OF, COPIED, SAMPLED, SUPPORT, WORDS, best_of_kl
from benchmarks.results_files import RESULTS, save, table
from citewell.core.training.plot import Panel, draw_panels
from citewell.reinforcement.course import COURSE, DEV
from citewell.scorer.load import DEFAULT

MEASURES = {
    SUPPORT: "Reward: citation support",
    "judge": f"Second scorer, which trains nothing: {DEFAULT}",
    "copied": "8-grams copied from the references",
    "words": "Words",
}
_OF_COMPARED = {SUPPORT: SUPPORT, "judge": f"score of {DEFAULT}", "copied": COPIED, "words": WORDS}
BEST = "best of n from the start"

Point = dict[str, float]


def draw_curves(runs: Sequence[Path], out: Path) -> None:
    """Print, save and draw the dev measures of each run against the KL divergence, beside best of n.

    The measures of a run are of one answer per dev question at temperature 1, by the averaged weights; those
    of best of n are of the comparison in the folder, or of the published one. A run that was interrupted is
    drawn as far as it went.
    """
    out.mkdir(parents=True, exist_ok=True)
    curves = {run.name: course(run) for run in runs}
    compared = out / "answers_ppo.json"
    if not compared.is_file():
        compared = RESULTS / "answers_ppo.json"
    if compared.is_file():
        curves[BEST] = best_of_n(json.loads(compared.read_text(encoding="utf-8"))["sampled"]["means"])
    header = ["run", "iteration", "KL", *MEASURES]
    rows = [
        [name, f"{point['step']:.0f}", f"{point['kl']:.2f}", *(_shown(point, each) for each in MEASURES)]
        for name, points in curves.items()
        for point in points
    ]
    print(table(header, rows))
    save("answers_ppo_curves", {"curves": curves}, out / "answers_ppo_curves.json")
    panels = [
        Panel(
            title,
            "",
            {
                name: sorted((point["kl"], point[measure]) for point in points if measure in point)
                for name, points in curves.items()
                if any(measure in point for point in points)
            },
        )
        for measure, title in MEASURES.items()
    ]
    draw_panels(panels, out / "answers-kl-curves.png", "KL divergence from the start, nats per answer")


def course(run: Path) -> list[Point]:
    """Return the dev measures of a run, by iteration."""
    lines = map(json.loads, (run / COURSE).read_text(encoding="utf-8").splitlines())
    return [
        {name.removeprefix(DEV): value for name, value in line.items()}
        for line in lines
        if f"{DEV}kl" in line
    ]


def best_of_n(means: Mapping[str, Mapping[str, float]]) -> list[Point]:
    """Return the measures of the best of n answers of the start; the iteration of such a point is n."""
    found = []
    for system, of in means.items():
        if system == SAMPLED or system.startswith(BEST_OF):
            n = 1 if system == SAMPLED else int(system.removeprefix(BEST_OF))
            measures: dict[str, Any] = {name: of[key] for name, key in _OF_COMPARED.items()}
            found.append({"step": n, "kl": best_of_kl(n), **measures})
    return found


def _shown(point: Point, measure: str) -> str:
    return f"{point[measure]:.3f}" if measure in point else ""
