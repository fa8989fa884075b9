"""The recipe of a cross-encoder's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import (
    AdapterConfig,
    BatchSize,
    EvalEvery,
    LearningRate,
    LogEvery,
    PartedOptimizationConfig,
    Schedule,
    check_names,
)
from citewell.retriever.encoder.resolve import PoolingMode
from citewell.retriever.training.config import EncoderDataConfig, EncoderDevConfig, MiningConfig


class RerankerModelConfig(Section):
    """The model to train."""

    base: str = Field("all-MiniLM-L6-v2", min_length=1, description="Packaged name, folder or hub id.")
    start: str | None = Field(None, description="Trained model of the same base and form to start from.")
    pooling: PoolingMode = Field("mean", description="Pooling of the states: `mean`, or `cls` for the first.")
    tuning: Literal["lora", "full"] = Field(
        "lora", description="Train adapters only, or all layers; the embeddings stay as they are."
    )
    max_tokens: int = Field(
        256, ge=16, le=8192, description="Tokens of a question with a passage; longer passages are cut."
    )
    question_tokens: int = Field(48, ge=4, description="Tokens at which longer questions are cut.")
    lora: AdapterConfig = AdapterConfig()

    @model_validator(mode="after")
    def _fits(self) -> RerankerModelConfig:
        if self.question_tokens + 8 > self.max_tokens:
            raise ValueError("question_tokens leaves no room for passages in max_tokens")
        return self


class RerankerDataConfig(EncoderDataConfig):
    """Rows that the model is trained on."""

    typed: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the questions that are seen as people type them: lower case, key words only.",
    )


class RerankerObjectiveConfig(Section):
    """The loss."""

    encoder: str = Field(
        "citewell-minilm",
        min_length=1,
        description="Dual encoder whose inner products the listwise loss adds to the scores.",
    )
    scale: float = Field(20.0, ge=0, description="Factor of these inner products; 0 leaves them out.")
    binary: float = Field(
        0.5, ge=0, description="Weight of the binary cross-entropy, which calibrates the scores."
    )


class RerankerTrainingConfig(PartedOptimizationConfig):
    """Duration, learning rate, and order."""

    batch: BatchSize = 8
    learning_rate: LearningRate = 5e-4
    schedule: Schedule = "linear"
    eval_every: EvalEvery = 200
    log_every: LogEvery = 20
    list_size: int = Field(8, ge=2, description="Max passages per question and step.")
    head_rate: float = Field(5.0, gt=0, description="Learning rate of the head, relative to the rest.")


class RerankerRecipe(Section):
    """A training run."""

    model: RerankerModelConfig = RerankerModelConfig()
    data: tuple[RerankerDataConfig, ...] = Field(..., min_length=1)
    dev: tuple[EncoderDevConfig, ...] = ()
    excluded: tuple[str, ...] = Field(
        (), description="Files of JSON lines whose `question` is never trained on."
    )
    mining: MiningConfig = MiningConfig()
    objective: RerankerObjectiveConfig = RerankerObjectiveConfig()
    training: RerankerTrainingConfig = RerankerTrainingConfig()

    @property
    def reads_claims(self) -> bool:
        """Whether the model learns the support of claims, not the relevance to questions."""
        return all(source.label == "support" for source in self.data)

    @model_validator(mode="after")
    def _names(self) -> RerankerRecipe:
        check_names(self.data)
        dev = [source.name for source in self.dev] + [s.name for s in self.data if s.held_out]
        if len(set(dev)) < len(dev):
            raise ValueError("two sources of dev rows have the same name")
        if "dev" in dev:
            raise ValueError("a source of dev rows cannot be named dev: that is the mean over all of them")
        if self.training.patience is not None and not dev:
            raise ValueError("patience needs dev rows: add [[dev]], or held_out to a source")
        return self


def load_config(file: Path) -> RerankerRecipe:
    """Read a recipe; raises `InputError` for missing, unknown or invalid values."""
    return load_recipe(RerankerRecipe, file, "docs/recipes.md")
