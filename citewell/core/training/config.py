"""The sections that recipes of all trainers have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from citewell.core.section import Section
from citewell.core.training.precision import Precision

# Annotated, so that a trainer can give another default and keep bounds and description.
BatchSize = Annotated[int, Field(ge=1, description="Examples per step.")]
LearningRate = Annotated[float, Field(gt=0, description="Peak learning rate of AdamW.")]
Schedule = Annotated[
    Literal["linear", "cosine", "constant"], Field(description="Learning-rate schedule after the warmup.")
]
WeightDecay = Annotated[float, Field(ge=0, description="Weight decay of AdamW.")]
EvalEvery = Annotated[int, Field(ge=1, description="Steps between evaluations; each writes a checkpoint.")]
LogEvery = Annotated[int, Field(ge=1, description="Steps between lines of the log.")]


class AdapterConfig(Section):
    """LoRA adapters, with PEFT's names (https://arxiv.org/abs/2106.09685)."""

    rank: int = Field(16, ge=1, le=512, description="Rank of the adapter matrices.")
    alpha: int = Field(32, ge=1, description="Scaling: adapter outputs are multiplied by alpha / rank.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the adapter inputs.")
    targets: tuple[str, ...] = Field(
        (), description="Last names of the linear layers to adapt; by default all, except the output layer."
    )

    @property
    def layers(self) -> str:
        """The adapted layers as a card names them."""
        return f"the layers {', '.join(self.targets)}" if self.targets else "all linear layers"


class SourceConfig(Section):
    """One source of data."""

    name: str = Field(..., pattern=r"^[A-Za-z0-9][\w.-]*$", description="Name in logs and in the model card.")
    files: tuple[str, ...] = Field(
        ...,
        min_length=1,
        description="Files or folders, relative to the recipe or to the folder of the setting `data`.",
    )
    license: str = Field(..., min_length=1, description="License of the data, for the model card.")
    limit: int | None = Field(None, ge=1, description="Max examples, sampled with the seed; by default all.")


class DataConfig(SourceConfig):
    """A source of training data."""

    repeat: int = Field(1, ge=1, description="Times that an example is seen per epoch.")


class CommonTrainingConfig(Section):
    """What every run has: the step's bound, the average of the weights, the seed, and its evaluations."""

    clip: float = Field(1.0, gt=0, description="Max norm of the gradient.")
    ema: float | None = Field(
        None, gt=0, lt=1, description="Decay of an exponential moving average of the weights, which is saved."
    )
    seed: int = Field(0, ge=0, description="Random seed.")
    eval_every: EvalEvery = 50
    patience: int | None = Field(
        None, ge=1, description="Evaluations without improvement before training stops early."
    )
    threads: int = Field(2, ge=1, description="CPU threads.")


class OptimizationConfig(CommonTrainingConfig):
    """The optimization: how long, how fast, and in which order."""

    epochs: int = Field(1, ge=1, description="Passes over the data.")
    steps: int | None = Field(None, ge=1, description="Max steps; by default all epochs.")
    batch: BatchSize = 16
    learning_rate: LearningRate = 2e-4
    warmup: float = Field(0.1, ge=0, lt=1, description="Share of the steps in which the rate rises.")
    schedule: Schedule = "cosine"
    schedule_floor: float = Field(
        0.0, ge=0, lt=1, description="Share of the peak rate at which the cosine schedule ends."
    )
    weight_decay: WeightDecay = 0.01
    log_every: LogEvery = 5


class PartsConfig(Section):
    """Steps that are computed in parts, whose gradients add up."""

    part_tokens: int = Field(
        1024, ge=64, description="Tokens per forward pass; a step accumulates gradients over several."
    )
    precision: Precision = Field(
        "float32",
        description="Number format on a CPU with instructions for it; others use float32, a GPU bfloat16.",
    )


class PartedOptimizationConfig(PartsConfig, OptimizationConfig):
    """The optimization of steps that are computed in parts."""


def check_names(sources: Sequence[SourceConfig]) -> None:
    """Raises `ValueError` for two sources of the same name."""
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError("two sources have the same name")
