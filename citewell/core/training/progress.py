"""The progress of a run: a line now and then, and a log that can be plotted."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from citewell.core.progress import SECONDS, Log, duration
from citewell.core.training.clock import Clock

LOG = "training.jsonl"


class Progress(TrainerCallback):
    """A callback that reports the rate and the remaining time, and writes the log of losses and dev metrics.

    The log is rewritten from the trainer's own history, which checkpoints contain: a resumed run writes no
    line twice.
    """

    def __init__(self, sizes: Sequence[int], unit: str, folder: Path, clock: Clock, tell: Log) -> None:
        """`sizes` has one entry per step, in a `unit` such as tokens; the log is written to `folder`.

        `clock` is saved with each checkpoint.
        """
        self._sizes = sizes
        self._unit = unit
        self._file = folder / LOG
        self._clock = clock
        self._tell = tell
        self._loss = ""

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Take the time from which the rate counts."""
        self._start = self._told = time.monotonic()
        self._first = state.global_step

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save the clock."""
        self._clock.save()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Report the progress, at most every few seconds."""
        now = time.monotonic()
        done = state.global_step
        if done == state.max_steps and args.eval_strategy != "no":
            control.should_evaluate = True
        if now - self._told < SECONDS and done < len(self._sizes):
            return
        self._told = now
        rate = sum(self._sizes[self._first : done]) / (now - self._start)
        left = sum(self._sizes[done:]) / rate
        self._tell(
            f"step {done:,} of {len(self._sizes):,}, {rate:.1f} {self._unit}/s, {duration(left)} left"
            f"{self._loss}"
        )

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the log."""
        if "loss" in kwargs["logs"]:
            self._loss = f", loss {float(kwargs['logs']['loss']):.4f}"
        lines = "".join(json.dumps(entry) + "\n" for entry in state.log_history)
        partial = self._file.with_suffix(".partial")
        partial.write_text(lines, encoding="utf-8")
        partial.replace(self._file)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Report the dev metrics."""
        found = dev_metrics(kwargs["metrics"])
        self._tell(f"step {state.global_step:,}: " + ", ".join(f"{k} {v:.4f}" for k, v in found.items()))


def dev_metrics(metrics: dict[str, Any]) -> dict[str, float]:
    """Return the dev metrics among what the trainer logs after an evaluation, by the name of the dev set."""
    timing = {"runtime", "samples_per_second", "steps_per_second", "loss"}
    names = {key: key.removeprefix("eval_") for key in metrics if key.startswith("eval_")}
    return {name: float(metrics[key]) for key, name in names.items() if name not in timing}
