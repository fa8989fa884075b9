"""Checkpoints of a run: the trained weights only, and complete checkpoints only."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import ModelError

if TYPE_CHECKING:
    import torch

TRAINED = "trained.safetensors"
OTHER_RECIPE = "Lower learning_rate, or check the data, and train into another folder with --out."
"""How to go on after a loss, a gradient or a dev metric that is not finite."""
_PREFIX = "checkpoint-"


class TrainingError(ModelError):
    """Training cannot continue."""


def check_finite(value: float, what: str, hint: str = OTHER_RECIPE) -> None:
    """Raise `TrainingError` for a loss, gradient or metric that is not finite; `what` names it."""
    if not math.isfinite(value):
        raise TrainingError(f"{what} is {value}.", hint)


def save_trained(model: torch.nn.Module, checkpoint: Path) -> None:
    """Write the trained weights as safetensors: a few megabytes for adapters."""
    from safetensors.torch import save_file

    checkpoint.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().contiguous() for name, value in trained(model).items()}
    save_file(weights, checkpoint / TRAINED)


def load_trained(model: torch.nn.Module, checkpoint: Path) -> None:
    """Load the weights of a checkpoint; raises `TrainingError` if they do not fit the model."""
    import torch
    from safetensors.torch import load_file

    weights = load_file(checkpoint / TRAINED)
    values = trained(model)
    if weights.keys() != values.keys() or any(weights[name].shape != values[name].shape for name in weights):
        raise TrainingError(
            f"The checkpoint {checkpoint} belongs to another model.",
            "Use the recipe that it was written with.",
        )
    with torch.no_grad():
        for name, value in values.items():
            value.copy_(weights[name])


def last_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint in a folder; a partly written one is skipped."""
    found = sorted(
        (path for path in folder.glob(f"{_PREFIX}*") if path.name.removeprefix(_PREFIX).isdecimal()),
        key=checkpoint_step,
    )
    return next((path for path in reversed(found) if _is_complete(path)), None)


def checkpoint_at(folder: Path, step: int) -> Path:
    """Return the checkpoint in a folder that was written after a step."""
    return folder / f"{_PREFIX}{step}"


def checkpoint_step(checkpoint: Path) -> int:
    """Return the step after which a checkpoint was written."""
    return int(checkpoint.name.removeprefix(_PREFIX))


def trained(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Return the parameters that are trained, by name; shared ones once."""
    return {name: value for name, value in model.named_parameters() if value.requires_grad}


def quiet() -> None:
    """Silence the libraries; `citewell.core.training.progress` reports what matters."""
    import datasets
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    datasets.disable_progress_bars()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")


def _is_complete(checkpoint: Path) -> bool:
    # The state is written last.
    try:
        json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True
