"""The recipe of a scorer's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.adapters import LoraConfig
from citewell.scorer.data.config import ReadingConfig, SplitConfig
from citewell.scorer.form import InputLayout

HANDBOOK = "docs/training-scorer.md"

Formulation = Literal["pairwise", "classification", "regression"]
Choice = Literal["accuracy", "length_matched", "pair_loss"]


class ScorerAdapterConfig(LoraConfig):
    """The adapters, and where they are."""

    targets: tuple[str, ...] = Field(
        (), description="Last names of the linear layers that are adapted; none stands for all."
    )


class ScorerModelConfig(Section):
    """What is trained."""

    base: str = Field(
        "all-MiniLM-L6-v2", min_length=1, description="Packaged name, GGUF file, folder or hub id."
    )
    depth: int | None = Field(
        None, ge=1, description="Layers that are used, from the lowest; all by default."
    )
    start: str | None = Field(
        None, description="Scorer of the same model whose trained weights are the first ones."
    )
    tuning: Literal["lora", "full"] = Field(
        "lora", description="Adapters, or all weights that are not frozen."
    )
    frozen: float = Field(
        0.7, ge=0, le=1, description="Share of the layers, from the lowest, that is not trained."
    )
    pooling: Literal["auto", "mean", "cls", "last"] = Field(
        "auto", description="What the head reads: the last token of decoders, the mean of encoders."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout in the trained layers and before the head.")
    layout: InputLayout = InputLayout()
    lora: ScorerAdapterConfig = ScorerAdapterConfig()

    @model_validator(mode="after")
    def _fits(self) -> ScorerModelConfig:
        if self.layout.question_tokens + 8 > self.layout.max_tokens:
            raise ValueError("question_tokens leave no room for answers in max_tokens")
        if self.tuning == "lora" and self.frozen == 1:
            raise ValueError(
                'with frozen = 1 no layer has adapters: write tuning = "full" for the head alone'
            )
        return self


class ScorerSourceConfig(Section):
    """One source of comparisons, rankings or votes."""

    name: str = Field(..., pattern=r"^[A-Za-z0-9][\w.-]*$", description="Name in logs and in the card.")
    files: tuple[str, ...] = Field(
        ..., min_length=1, description="Files, beside the recipe or in $CITEWELL_DATA."
    )
    licence: str = Field(..., min_length=1, description="Licence of the data, for the model card.")
    limit: int | None = Field(None, ge=1, description="Most questions, drawn by the seed.")
    reading: ReadingConfig = ReadingConfig()


class ScorerDataConfig(ScorerSourceConfig):
    """What the model learns from."""

    repeat: int = Field(1, ge=1, description="Times a question is seen in an epoch.")


class ScorerDevConfig(ScorerSourceConfig):
    """What the model is measured on while it is trained."""


class ObjectiveConfig(Section):
    """What is learnt from an answer being preferred."""

    formulation: Formulation = Field(
        "pairwise", description="`pairwise`, or WebGLM's baselines `classification` and `regression`."
    )
    length_penalty: float = Field(
        0.0, ge=0, description="Weight of the squared correlation of score and length, in the loss."
    )
    match_length: bool = Field(
        False, description="Cut all answers to a question to the shortest of them while learning."
    )


class TuningConfig(Section):
    """Supervised fine-tuning of a decoder on the preferred answers, before it learns to compare."""

    epochs: int = Field(0, ge=0, description="Times that each preferred answer is seen; 0 for no such stage.")
    learning_rate: float = Field(2e-4, gt=0, description="Highest learning rate of this stage.")


class ScorerTrainingConfig(Section):
    """How long, how fast, and in which order."""

    epochs: int = Field(1, ge=1, description="Times that each question is seen, times its `repeat`.")
    steps: int | None = Field(
        None, ge=0, description="Most steps; all of the epochs by default. With 0 the head stays a probe."
    )
    batch: int = Field(64, ge=1, description="Questions of a step, with all their answers.")
    part_tokens: int = Field(
        4096, ge=64, description="Tokens of a step that are computed together; more need more memory."
    )
    learning_rate: float = Field(3e-4, gt=0, description="Highest learning rate of AdamW.")
    probe: float | None = Field(
        None,
        gt=0,
        description="Ridge of the linear probe that the head begins as; by default it begins at zero.",
    )
    head_rate: float = Field(10.0, ge=0, description="Learning rate of the head, as a multiple of that.")
    warmup: float = Field(0.1, ge=0, lt=1, description="Share of the steps in which it rises to that.")
    schedule: Literal["linear", "cosine", "constant"] = Field("cosine", description="How it falls then.")
    weight_decay: float = Field(0.01, ge=0, description="Weight decay of AdamW.")
    clip: float = Field(1.0, gt=0, description="Norm that gradients are cut to.")
    ema: float | None = Field(
        None, gt=0, lt=1, description="Decay of the moving average of the weights, which is kept then."
    )
    seed: int = Field(0, ge=0, description="Seed of all that is random.")
    eval_every: int = Field(10, ge=1, description="Steps between two measurements, with a checkpoint each.")
    choose_by: Choice = Field("accuracy", description="What the best checkpoint has the best of.")
    patience: int | None = Field(None, ge=1, description="Measurements without a gain after which it ends.")
    calibrate: int = Field(2000, ge=2, description="Most answers that the scale of scores is measured on.")
    pinned: int = Field(
        400, ge=0, description="Test comparisons that are kept with the scorer, to test its successors."
    )
    log_every: int = Field(1, ge=1, description="Steps between two lines of the log.")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="What a CPU computes in; a GPU computes in bfloat16."
    )
    threads: int = Field(2, ge=1, description="CPU threads.")


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
        names = [source.name for source in (*self.data, *self.dev)]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name")
        if not self.measured and self.training.patience is not None:
            raise ValueError("patience needs dev data: add [[dev]], or raise split.dev")
        if self.training.steps == 0 and self.training.probe is None:
            raise ValueError("without a step nothing is learnt: give training.probe, or more steps")
        if self.training.probe is not None and self.model.start is not None:
            raise ValueError("a head that begins as that of model.start cannot begin as a probe")
        return self

    @property
    def measured(self) -> bool:
        """Whether there is dev data."""
        return bool(self.dev) or self.split.dev > 0


def load_config(file: Path) -> ScorerRecipe:
    """Read a recipe; raises `InputError` for what is missing, unknown or wrong in it."""
    return load_recipe(ScorerRecipe, file, HANDBOOK)
