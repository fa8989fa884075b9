"""The recipe of a generator's training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import (
    AdapterConfig,
    DataConfig,
    PartedOptimizationConfig,
    SourceConfig,
    WeightDecay,
    check_names,
)
from citewell.generator.causal import FREQUENCY_PENALTY
from citewell.generator.defaults import GenerationDefaults
from citewell.generator.prompt import WEBGLM


class GeneratorModelConfig(Section):
    """The model to train."""

    base: str = Field(
        "SmolLM2-135M-Instruct", min_length=1, description="Packaged name, GGUF file, folder or hub id."
    )
    start: str | None = Field(
        None, description="Trained adapter of the same base to train further, in its own form."
    )
    tuning: Literal["lora", "full"] = Field("lora", description="Train adapters only, or all weights.")
    lora: AdapterConfig = AdapterConfig()

    @model_validator(mode="after")
    def _is_adapter(self) -> Self:
        if self.start is not None and self.tuning == "full":
            raise ValueError('start is an adapter, and tuning = "full" trains all weights')
        return self


class ArrangementConfig(Section):
    """The references of a prompt, and its length."""

    references: int = Field(5, ge=1, le=20, description="References per prompt.")
    fill: bool = Field(True, description="Fill up to that number with references of other questions.")
    shuffle: bool = Field(True, description="Shuffle the references each time, and renumber the citations.")
    prompt_tokens: int = Field(1000, ge=64, description="Max tokens per prompt.")


class GeneratorPromptConfig(ArrangementConfig):
    """The prompt; saved beside the weights, so that the model is prompted as in training."""

    demonstration: bool = Field(False, description="Put the demonstration before each question.")
    question_first: bool = Field(False, description="Put the question before the references.")
    cut: bool = Field(True, description="Cut references that are too long; otherwise skip the row.")
    answer_tokens: int = Field(200, ge=16, description="Tokens at which longer answers are cut.")
    frequency_penalty: float = Field(
        FREQUENCY_PENALTY, ge=0, le=2, description="Frequency penalty of the trained model's answers."
    )

    @property
    def defaults(self) -> GenerationDefaults:
        """The defaults saved beside the weights."""
        form = replace(WEBGLM, demonstration=self.demonstration, question_first=self.question_first)
        return GenerationDefaults(form, self.frequency_penalty)


class GeneratorSourceConfig(SourceConfig):
    """One source of rows."""

    split: str = Field("train", min_length=1, description="For a folder: the file of rows to read.")


class GeneratorDataConfig(GeneratorSourceConfig, DataConfig):
    """Rows that the model is trained on."""

    held_out: int = Field(0, ge=0, description="Questions to hold out for the dev metrics.")


class GeneratorDevConfig(GeneratorSourceConfig):
    """Rows that the model is evaluated on during training."""

    split: str = Field("dev", min_length=1, description="For a folder: the file of rows to read.")


class CausalTrainingConfig(PartedOptimizationConfig):
    """The optimization: duration, speed and order."""

    weight_decay: WeightDecay = 0.0
    packing: bool = Field(False, description="Concatenate the examples of a forward pass instead of padding.")


class GeneratorTrainingConfig(CausalTrainingConfig):
    """The optimization: duration, speed, order, and the selection of the best checkpoint."""

    generate: int = Field(
        8, ge=0, description="Dev questions to generate answers to, for the citation metrics."
    )
    choose_by: Literal["answer_loss", "citation_f1"] = Field(
        "answer_loss", description="Metric that selects the best checkpoint."
    )


class ExampleRecipe(Section):
    """The data of a recipe: questions with references and answers."""

    data: tuple[GeneratorDataConfig, ...] = Field(..., min_length=1)
    dev: tuple[GeneratorDevConfig, ...] = ()

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        check_names([*self.data, *self.dev])
        return self

    @property
    def measured(self) -> bool:
        """True if there are dev rows."""
        return bool(self.dev) or any(source.held_out for source in self.data)


class GeneratorRecipe(ExampleRecipe):
    """A training run."""

    model: GeneratorModelConfig = GeneratorModelConfig()
    prompt: GeneratorPromptConfig = GeneratorPromptConfig()
    training: GeneratorTrainingConfig = GeneratorTrainingConfig()

    @model_validator(mode="after")
    def _fits(self) -> GeneratorRecipe:
        if not self.measured and self.training.patience is not None:
            raise ValueError("patience needs dev rows: add [[dev]], or held_out to a source")
        if self.training.choose_by == "citation_f1" and not (self.measured and self.training.generate):
            raise ValueError('choose_by = "citation_f1" needs dev rows and generate above 0')
        return self


def load_config(file: Path) -> GeneratorRecipe:
    """Read a recipe; raises `InputError` for missing, unknown and invalid keys."""
    return load_recipe(GeneratorRecipe, file, "docs/recipes.md")
