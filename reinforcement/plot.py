"""The course of a run as a picture: reward and KL divergence first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from citewell.core.training.plot import Panel, draw_panels

_DEV = "dev, averaged weights"
_PANELS = {
    "score": ("Reward, less that of demonstrations", ""),
    "kl": ("KL divergence from the start", "nats per answer"),
    "judge": ("Second scorer, which trains nothing", ""),
    "copied": ("8-grams copied from the references", "share"),
    "support": ("Citation support", "0 to 1"),
    "words": ("Length", "words"),
    "entropy": ("Entropy", "nats per token"),
    "ended": ("Finished answers", "share"),
}


def draw_run(history: Sequence[Mapping[str, float]], file: Path) -> None:
    """Plot each measure of a run's log, of the training answers and of the dev answers."""
    panels = []
    for measure, (title, label) in _PANELS.items():
        curves = {}
        for name, key in (("training", measure), (_DEV, f"eval_{measure}")):
            if points := [(entry["step"], entry[key]) for entry in history if key in entry]:
                curves[name] = points
        if curves:
            panels.append(Panel(title, label, curves, scattered=frozenset({_DEV})))
    draw_panels(panels, file, "iteration")
