"""The exponential moving average of the weights (WebGPT, appendix E, `EMA decay`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from citewell.core.training.checkpoints import trained

FILE = "average.safetensors"


class Average:
    """The average of the trained weights of a model over its steps."""

    def __init__(self, model: torch.nn.Module, decay: float) -> None:
        """Start from the current weights; the first steps count more, so that these are forgotten."""
        self._model = model
        self._decay = decay
        self._steps = 0
        self._values = {name: value.detach().clone() for name, value in trained(model).items()}

    def update(self) -> None:
        """Update the average after a step."""
        self._steps += 1
        decay = min(self._decay, self._steps / (self._steps + 9))
        with torch.no_grad():
            for name, value in trained(self._model).items():
                self._values[name].lerp_(value, 1 - decay)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Use the average as the model's weights for the duration of a block."""
        weights = {name: value.detach().clone() for name, value in trained(self._model).items()}
        self.apply()
        try:
            yield
        finally:
            self._put(weights)

    def apply(self) -> None:
        """Replace the model's weights by the average."""
        self._put(self._values)

    def save(self, checkpoint: Path) -> None:
        """Save the average into a checkpoint."""
        values = {name: value.contiguous() for name, value in self._values.items()}
        save_file({**values, "steps": torch.tensor(self._steps)}, checkpoint / FILE)

    def load(self, checkpoint: Path) -> None:
        """Load the average of a checkpoint."""
        values = load_file(checkpoint / FILE)
        self._steps = int(values.pop("steps"))
        self._values = {name: values[name].to(value.device) for name, value in self._values.items()}

    def _put(self, values: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, value in trained(self._model).items():
                value.copy_(values[name])
