"""The recipe of an encoder's training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import (
    AdapterConfig,
    DataConfig,
    EvalEvery,
    LogEvery,
    OptimizationConfig,
    Schedule,
    SourceConfig,
    check_names,
)
from citewell.retriever.training.objectives import EncoderKlConfig, Objective

Format = Literal["references", "pairs", "candidates", "claims", "beir"]
Label = Literal[
    "rouge",
    "adopted",
    "positives",
    "answerability",
    "answers",
    "sentences",
    "candidates",
    "support",
    "rankings",
    "judgments",
]
Measure = Literal["ndcg", "pair_accuracy", "spearman", "auc"]
LABELS: dict[str, tuple[Label, ...]] = {
    "references": ("rouge", "adopted"),
    "pairs": ("positives", "answerability", "answers", "sentences"),
    "candidates": ("candidates",),
    "claims": ("support",),
    "beir": ("rankings", "judgments"),
}


class EncoderModelConfig(Section):
    """The model to train."""

    base: str = Field("all-MiniLM-L6-v2", min_length=1, description="Packaged name, folder or hub id.")
    tuning: Literal["lora", "full"] = Field("lora", description="Train adapters only, or all weights.")
    towers: Literal["two", "shared"] = Field(
        "two", description="Separate encoders for questions and passages, or a shared one."
    )
    max_tokens: int = Field(256, ge=8, le=8192, description="Tokens at which longer texts are cut.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout in the base model's layers; slow on a CPU.")
    lora: AdapterConfig = AdapterConfig()


class MiningConfig(Section):
    """Mining of hard negatives (`citewell.retriever.training.candidates`)."""

    encoder: str = Field("all-MiniLM-L6-v2", min_length=1, description="Encoder that finds candidates.")
    depth: int = Field(50, ge=1, le=1000, description="Candidates to consider per question.")
    skip: int = Field(0, ge=0, description="Top candidates to skip.")
    bm25: bool = Field(False, description="Also consider the candidates of BM25.")
    margin: float = Field(
        0.05,
        description="Min difference between the inner products of the positive and a negative.",
    )
    overlap: float = Field(
        0.8,
        gt=0,
        description="ROUGE-1 precision against a positive from which a candidate is no longer a negative.",
    )
    answers: bool = Field(True, description="Skip candidates that contain the answer's words.")
    corpus: tuple[str, ...] = Field((), description="Files of pairs whose passages are also candidates.")


class EncoderSourceConfig(SourceConfig):
    """One source of rows."""

    format: Format = Field(..., description="Format of the files.")
    label: Label = Field(..., description="How passages are labeled.")
    negatives: int = Field(0, ge=0, description="Hard negatives to mine per question.")
    answers: str | None = Field(
        None, description="For the label answers: the file that `citewell train labels` wrote."
    )
    people: float = Field(
        0.0, ge=0, le=1, description="For the label answers: the share of people's labels in a target."
    )
    without: dict[str, str] = Field(
        {}, description="For candidates: lines with one of these fields and values are left out."
    )
    split: str = Field("test", min_length=1, description="For a BEIR folder: the judgments in qrels/.")
    run: str | None = Field(
        None, description="For a BEIR folder: a TREC run whose passages are each question's list."
    )
    depth: int = Field(100, ge=2, description="Top passages to read of a run or ranking.")

    @model_validator(mode="after")
    def _fits(self) -> EncoderSourceConfig:
        if self.label not in LABELS[self.format]:
            raise ValueError(
                f"the format {self.format} has the labels {' and '.join(LABELS[self.format])}, "
                f"not {self.label}"
            )
        if self.run is not None and self.label != "judgments":
            raise ValueError("run requires the label judgments")
        if (self.answers is None) is (self.label == "answers"):
            raise ValueError("the label answers and the key answers require each other")
        if self.without and self.format != "candidates":
            raise ValueError("without requires the format candidates")
        if self.negatives and (self.format != "pairs" or self.label in ("answers", "sentences")):
            raise ValueError("negatives require the format pairs with people's labels")
        return self


class EncoderDataConfig(EncoderSourceConfig, DataConfig):
    """Rows that the model is trained on."""

    weight: float = Field(1.0, gt=0, description="Weight of each question in the loss.")
    held_out: int = Field(0, ge=0, description="Questions to hold out for the dev metrics.")


class EncoderDevConfig(EncoderSourceConfig):
    """Rows that the model is evaluated on during training."""

    measure: Measure = Field(
        "ndcg",
        description="Metric: `ndcg` (nDCG@10), `pair_accuracy`, `spearman` (rank correlation), or `auc` over "
        "all pairs.",
    )


class EncoderTrainingConfig(OptimizationConfig):
    """Duration, learning rate, and order."""

    schedule: Schedule = "linear"
    eval_every: EvalEvery = 100
    log_every: LogEvery = 10
    list_size: int = Field(8, ge=1, description="Max passages per question and step.")


class EncoderRecipe(Section):
    """A training run."""

    model: EncoderModelConfig = EncoderModelConfig()
    data: tuple[EncoderDataConfig, ...] = Field(..., min_length=1)
    dev: tuple[EncoderDevConfig, ...] = ()
    mining: MiningConfig = MiningConfig()
    objectives: tuple[Annotated[Objective, Field(discriminator="name")], ...] = Field(..., min_length=1)
    training: EncoderTrainingConfig = EncoderTrainingConfig()

    @model_validator(mode="after")
    def _names(self) -> EncoderRecipe:
        check_names(self.data)
        names = [source.name for source in self.data]
        dev = [source.name for source in self.dev] + [s.name for s in self.data if s.held_out]
        if len(set(dev)) < len(dev):
            raise ValueError("two sources of dev rows have the same name")
        if "dev" in dev:
            raise ValueError("a source of dev rows cannot be named dev: that is the mean over all of them")
        for objective in self.objectives:
            for named in objective.sources:
                if named not in names:
                    raise ValueError(
                        f"the objective {objective.name} names the source {named!r}, which is not in data"
                    )
        for source in self.data:
            used = [objective for objective in self.objectives if objective.applies_to(source.name)]
            if not used:
                raise ValueError(f"no objective uses the source {source.name!r}")
            for objective in used:
                if source.label == "rankings" and not objective.learns_ranks:
                    raise ValueError(
                        f"the objective {objective.name} cannot learn from the source {source.name!r}, whose "
                        "labels are logarithms of ranks: listwise_kl and margin_mse can, and the key sources "
                        f"limits {objective.name} to other sources"
                    )
        if self.training.patience is not None and not dev:
            raise ValueError("patience needs dev rows: add [[dev]], or held_out to a source")
        return self

    @property
    def teachers(self) -> tuple[EncoderKlConfig, ...]:
        """The objectives that learn from an encoder, one for each encoder."""
        found = {each.encoder: each for each in self.objectives if isinstance(each, EncoderKlConfig)}
        return tuple(found.values())


def load_config(file: Path) -> EncoderRecipe:
    """Read a recipe; raises `InputError` for missing, unknown or invalid values."""
    return load_recipe(EncoderRecipe, file, "docs/recipes.md")
