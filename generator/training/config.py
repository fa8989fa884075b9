"""The recipe of a generator's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.adapters import LoraConfig
from citewell.generator.causal import FREQUENCY_PENALTY
from citewell.generator.defaults import GenerationDefaults
from citewell.generator.prompt import PromptForm

HANDBOOK = "docs/training-generator.md"

Choice = Literal["answer_loss", "citation_f1"]


class GeneratorAdapterConfig(LoraConfig):
    """The adapters, and where they are."""

    targets: tuple[str, ...] = Field(
        ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
        min_length=1,
        description="Names of the layers that are adapted.",
    )


class GeneratorModelConfig(Section):
    """What is trained."""

    base: str = Field(
        "SmolLM2-135M-Instruct", min_length=1, description="Packaged name, GGUF file, folder or hub id."
    )
    tuning: Literal["lora", "full"] = Field("lora", description="Adapters only, or all weights.")
    lora: GeneratorAdapterConfig = GeneratorAdapterConfig()


class GeneratorPromptConfig(Section):
    """What the model reads; kept beside its weights, so that it is asked as it was trained."""

    demonstration: bool = Field(False, description="Put the demonstration before every question.")
    question_first: bool = Field(False, description="Put the question before the references.")
    references: int = Field(5, ge=1, le=20, description="References of a prompt.")
    fill: bool = Field(
        True, description="Add useless references of other questions where a row has fewer than that."
    )
    shuffle: bool = Field(True, description="Shuffle references, and number the citations anew, each time.")
    prompt_tokens: int = Field(1000, ge=64, description="Most tokens of a prompt.")
    cut: bool = Field(True, description="Cut references of a longer prompt, or leave the row out.")
    answer_tokens: int = Field(200, ge=16, description="Most tokens of an answer; longer ones are cut.")
    frequency_penalty: float = Field(
        FREQUENCY_PENALTY, ge=0, le=2, description="Of the answers that the trained model writes."
    )

    @property
    def defaults(self) -> GenerationDefaults:
        """What is kept beside the weights."""
        form = PromptForm(demonstration=self.demonstration, question_first=self.question_first)
        return GenerationDefaults(form, self.frequency_penalty)


class GeneratorSourceConfig(Section):
    """One source of rows."""

    name: str = Field(..., pattern=r"^[A-Za-z0-9][\w.-]*$", description="Name in logs and in the card.")
    files: tuple[str, ...] = Field(
        ...,
        min_length=1,
        description="Files of rows, or folders of data sets, beside the recipe or in $CITEWELL_DATA.",
    )
    split: str = Field("train", min_length=1, description="Of a folder: the file of rows that is read.")
    licence: str = Field(..., min_length=1, description="Licence of the data, for the model card.")
    limit: int | None = Field(None, ge=1, description="Most rows, drawn by the seed.")


class GeneratorDataConfig(GeneratorSourceConfig):
    """Rows that the model learns from."""

    repeat: int = Field(1, ge=1, description="Times a row is seen in an epoch.")
    held_out: int = Field(0, ge=0, description="Questions that are kept for measuring.")


class GeneratorDevConfig(GeneratorSourceConfig):
    """Rows on which the model is measured while it is trained."""

    split: str = Field("dev", min_length=1, description="Of a folder: the file of rows that is read.")


class OptimisationConfig(Section):
    """How long, how fast, and in which order."""

    epochs: int = Field(1, ge=1, description="Times that each row is seen, times its `repeat`.")
    steps: int | None = Field(None, ge=1, description="Most steps; all of the epochs by default.")
    batch: int = Field(16, ge=1, description="Rows of a step.")
    part_tokens: int = Field(
        1024, ge=64, description="Tokens of a step that are computed together; more need more memory."
    )
    packing: bool = Field(False, description="Lay the rows of a part in one line, in place of padding them.")
    learning_rate: float = Field(2e-4, gt=0, description="Highest learning rate of AdamW.")
    warmup: float = Field(0.1, ge=0, lt=1, description="Share of the steps in which it rises to that.")
    schedule: Literal["linear", "cosine", "constant"] = Field("cosine", description="How it falls then.")
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of AdamW.")
    clip: float = Field(1.0, gt=0, description="Norm that gradients are cut to.")
    ema: float | None = Field(
        None, gt=0, lt=1, description="Decay of the moving average of the weights, which is kept then."
    )
    seed: int = Field(0, ge=0, description="Seed of all that is random.")
    eval_every: int = Field(50, ge=1, description="Steps between two measurements, with a checkpoint each.")
    patience: int | None = Field(None, ge=1, description="Measurements without a gain after which it ends.")
    log_every: int = Field(5, ge=1, description="Steps between two lines of the log.")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="What a CPU computes in; a GPU computes in bfloat16."
    )
    threads: int = Field(2, ge=1, description="CPU threads.")


class GeneratorTrainingConfig(OptimisationConfig):
    """How long, how fast, in which order, and what is measured meanwhile."""

    generate: int = Field(8, ge=0, description="Dev questions that are answered, to measure citations.")
    choose_by: Choice = Field("answer_loss", description="What the best checkpoint has the best of.")


class GeneratorRecipe(Section):
    """A training run."""

    model: GeneratorModelConfig = GeneratorModelConfig()
    prompt: GeneratorPromptConfig = GeneratorPromptConfig()
    data: tuple[GeneratorDataConfig, ...] = Field(..., min_length=1)
    dev: tuple[GeneratorDevConfig, ...] = ()
    training: GeneratorTrainingConfig = GeneratorTrainingConfig()

    @model_validator(mode="after")
    def _fits(self) -> GeneratorRecipe:
        names = [source.name for source in (*self.data, *self.dev)]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name")
        if not self.measured and self.training.patience is not None:
            raise ValueError("patience needs dev rows: add [[dev]], or held_out to a source")
        if self.training.choose_by == "citation_f1" and not (self.measured and self.training.generate):
            raise ValueError("choose_by needs dev rows, and questions to generate answers to")
        return self

    @property
    def measured(self) -> bool:
        """Whether there are dev rows."""
        return bool(self.dev) or any(source.held_out for source in self.data)


def load_config(file: Path) -> GeneratorRecipe:
    """Read a recipe; raises `InputError` for what is missing, unknown or wrong in it."""
    return load_recipe(GeneratorRecipe, file, HANDBOOK)
