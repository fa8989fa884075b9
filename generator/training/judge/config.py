"""The recipe of a judge's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import (
    AdapterConfig,
    DataConfig,
    PartedOptimizationConfig,
    WeightDecay,
    check_names,
)

Asked = Literal["support", "answered", "right", "relevance"]


class JudgeModelConfig(Section):
    """The model to train."""

    base: str = Field(
        "qwen2.5-coder-1.5b", min_length=1, description="Packaged name, GGUF file, folder or hub id."
    )
    lora: AdapterConfig = AdapterConfig()
    first_layer: int = Field(
        0, ge=0, description="The first layer with an adapter; those below are read without gradients."
    )


class JudgeDataConfig(DataConfig):
    """Examples that the model is trained on."""

    asks: Asked = Field(..., description="The question about each example, which its format follows.")
    held_out: int = Field(0, ge=0, description="Questions to hold out for the dev metrics.")


class JudgeTrainingConfig(PartedOptimizationConfig):
    """The optimization: duration, speed and order."""

    weight_decay: WeightDecay = 0.0


class JudgeRecipe(Section):
    """A training run."""

    model: JudgeModelConfig = JudgeModelConfig()
    data: tuple[JudgeDataConfig, ...] = Field(..., min_length=1)
    training: JudgeTrainingConfig = JudgeTrainingConfig()

    @model_validator(mode="after")
    def _fits(self) -> JudgeRecipe:
        check_names(self.data)
        if self.training.patience is not None and not self.measured:
            raise ValueError("patience needs dev examples: add held_out to a source")
        return self

    @property
    def measured(self) -> bool:
        """True if there are dev examples."""
        return any(source.held_out for source in self.data)


def load_config(file: Path) -> JudgeRecipe:
    """Read a recipe; raises `InputError` for missing, unknown and invalid keys."""
    return load_recipe(JudgeRecipe, file, "docs/recipes.md")
