"""The recipe of a scorer's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import (
    AdapterConfig,
    BatchSize,
    DataConfig,
    EvalEvery,
    LearningRate,
    LogEvery,
    PartedOptimizationConfig,
    SourceConfig,
    check_names,
)
from citewell.scorer.data.config import ReadingConfig, SplitConfig
from citewell.scorer.form import InputLayout

Formulation = Literal["pairwise", "classification", "regression"]


class ScorerModelConfig(Section):
    """The model to train."""

    base: str = Field(
        "all-MiniLM-L6-v2", min_length=1, description="Packaged name, GGUF file, folder or hub id."
    )
    depth: int | None = Field(None, ge=1, description="Layers to use, from the lowest; by default all.")
    start: str | None = Field(None, description="Trained model of the same base and form to start from.")
    tuning: Literal["lora", "full"] = Field("lora", description="Train adapters only, or all weights.")
    frozen: float = Field(0.7, ge=0, le=1, description="Share of the layers, from the lowest, to freeze.")
    pooling: Literal["auto", "mean", "cls", "last"] = Field(
        "auto", description="Pooling; `auto` is the last token for decoders, the mean for encoders."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout in the trained layers and before the head.")
    layout: InputLayout = InputLayout()
    lora: AdapterConfig = AdapterConfig()

    @model_validator(mode="after")
    def _fits(self) -> ScorerModelConfig:
        if self.layout.question_tokens + 8 > self.layout.max_tokens:
            raise ValueError("question_tokens leaves no room for answers in max_tokens")
        if self.tuning == "lora" and self.frozen == 1:
            raise ValueError(
                'with frozen = 1 no layer has adapters: set tuning = "full" to train the head only'
            )
        return self


class ScorerSourceConfig(SourceConfig):
    """One source of comparisons, rankings or votes."""

    reading: ReadingConfig = ReadingConfig()


class ScorerDataConfig(ScorerSourceConfig, DataConfig):
    """The training data."""


class ScorerDevConfig(ScorerSourceConfig):
    """The evaluation data during training."""


class ObjectiveConfig(Section):
    """The loss."""

    formulation: Formulation = Field(
        "pairwise", description="`pairwise`, or WebGLM's baselines `classification` and `regression`."
    )
    ties: Literal["soft", "drop"] = Field(
        "soft", description="Ties in training: `soft` labels of one half (WebGPT), or `drop` (InstructGPT)."
    )
    length_penalty: float = Field(
        0.0, ge=0, description="Weight of the squared correlation between score and length in the loss."
    )
    match_length: bool = Field(
        False, description="Cut all answers to a question to the shortest one during training."
    )


class TuningConfig(Section):
    """Supervised fine-tuning of a decoder on the preferred answers, before the training."""

    epochs: int = Field(0, ge=0, description="Passes over the preferred answers; 0 disables this stage.")
    learning_rate: float = Field(2e-4, gt=0, description="Peak learning rate of this stage.")


class ScorerTrainingConfig(PartedOptimizationConfig):
    """Duration, learning rate, order, and selection of the best checkpoint."""

    steps: int | None = Field(
        None,
        ge=0,
        description="Max steps; by default all epochs; 0 keeps the probe.",
    )
    batch: BatchSize = 64
    part_tokens: int = Field(
        4096, ge=64, description="Tokens per forward pass; a step accumulates gradients over several."
    )
    learning_rate: LearningRate = 3e-4
    eval_every: EvalEvery = 10
    log_every: LogEvery = 1
    probe: float | None = Field(
        None,
        gt=0,
        description="Ridge penalty of a linear probe as the first head; by default it is zero.",
    )
    head_rate: float = Field(10.0, ge=0, description="Learning rate of the head, relative to the rest.")
    choose_by: Literal["accuracy", "length_matched", "pair_loss"] = Field(
        "accuracy", description="Metric that selects the best checkpoint."
    )
    calibrate: int = Field(
        2000, ge=2, description="Max answers for the mean and standard deviation of scores."
    )
    pinned: int = Field(
        400, ge=0, description="Test comparisons to save with the scorer, for testing its successors."
    )


class ScorerRecipe(Section):
    """A training run."""

    model: ScorerModelConfig = ScorerModelConfig()
    data: tuple[ScorerDataConfig, ...] = Field(..., min_length=1)
    dev: tuple[ScorerDevConfig, ...] = ()
    split: SplitConfig = SplitConfig()
    objective: ObjectiveConfig = ObjectiveConfig()
    tuning: TuningConfig = TuningConfig()
    training: ScorerTrainingConfig = ScorerTrainingConfig()

    @model_validator(mode="after")
    def _fits(self) -> ScorerRecipe:
        check_names([*self.data, *self.dev])
        if self.tuning.epochs and self.objective.formulation != "pairwise":
            raise ValueError("tuning.epochs needs the formulation pairwise")
        if self.objective.length_penalty and self.objective.formulation != "pairwise":
            raise ValueError("objective.length_penalty needs the formulation pairwise")
        if not self.measured and self.training.patience is not None:
            raise ValueError("patience needs dev data: add [[dev]], or raise split.dev")
        if self.training.steps == 0 and self.training.probe is None:
            raise ValueError("without steps nothing is trained: set training.probe, or more steps")
        if self.training.probe is not None and self.model.start is not None:
            raise ValueError("training.probe and model.start exclude each other")
        return self

    @property
    def measured(self) -> bool:
        """True if there is dev data."""
        return bool(self.dev) or self.split.dev > 0


def load_config(file: Path) -> ScorerRecipe:
    """Read a recipe; raises `InputError` for missing, unknown or invalid values."""
    return load_recipe(ScorerRecipe, file, "docs/recipes.md")
