"""The configuration of a training run: a TOML file, checked before anything is read or computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.adapters import LoraConfig
from citewell.retriever.training.objectives import EncoderKlConfig, Objective

Format = Literal["references", "pairs", "beir"]
Label = Literal["rouge", "adopted", "positives", "rankings", "judgements"]
Measure = Literal["ndcg", "pair_accuracy", "spearman"]
LABELS: dict[str, tuple[Label, ...]] = {
    "references": ("rouge", "adopted"),
    "pairs": ("positives",),
    "beir": ("rankings", "judgements"),
}


class EncoderAdapterConfig(LoraConfig):
    """The adapters, and where they are."""

    targets: tuple[str, ...] = Field(
        ("query", "key", "value", "dense"), min_length=1, description="Names of the layers that are adapted."
    )


class EncoderModelConfig(Section):
    """What is trained."""

    base: str = Field("all-MiniLM-L6-v2", min_length=1, description="Packaged name, folder or hub id.")
    tuning: Literal["lora", "full"] = Field("lora", description="Adapters only, or all weights.")
    towers: Literal["two", "shared"] = Field(
        "two", description="An encoder each for questions and passages, or one for both."
    )
    max_tokens: int = Field(256, ge=8, le=8192, description="Tokens of a text that are read.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout in the base's own layers; slow on a CPU.")
    lora: EncoderAdapterConfig = EncoderAdapterConfig()


class MiningConfig(Section):
    """Where hard negatives come from (`citewell.retriever.training.candidates`)."""

    encoder: str = Field("all-MiniLM-L6-v2", min_length=1, description="Encoder that finds them.")
    depth: int = Field(50, ge=1, le=1000, description="Candidates of a question that are looked at.")
    skip: int = Field(0, ge=0, description="The best candidates that are passed over.")
    bm25: bool = Field(False, description="Look at the candidates of BM25 too.")
    margin: float = Field(
        0.05,
        description="A negative is this much further from the question than its positive, as inner product.",
    )
    overlap: float = Field(
        0.8,
        gt=0,
        description="Candidates of whose words this share stands in the positive are no negatives (ROUGE-1).",
    )
    answers: bool = Field(True, description="Candidates that hold the answer's words are no negatives.")
    corpus: tuple[str, ...] = Field((), description="Files of pairs whose passages are candidates too.")


class EncoderSourceConfig(Section):
    """One source of rows."""

    name: str = Field(..., pattern=r"^[A-Za-z0-9][\w.-]*$", description="Name in logs and in the card.")
    files: tuple[str, ...] = Field(
        ..., min_length=1, description="Files or BEIR folders, from the config's folder or $CITEWELL_DATA."
    )
    format: Format = Field(..., description="Form of the files.")
    label: Label = Field(..., description="How passages are labelled.")
    licence: str = Field(..., min_length=1, description="Licence of the data, for the model card.")
    limit: int | None = Field(None, ge=1, description="Most rows, drawn by the seed.")
    negatives: int = Field(0, ge=0, description="Hard negatives that are mined for a question.")
    split: str = Field("test", min_length=1, description="Of a BEIR folder: the judgements in qrels/.")
    run: str | None = Field(None, description="Of a BEIR folder: a TREC run; its passages are the list.")
    depth: int = Field(100, ge=2, description="Of a run or ranking: the passages from the top.")

    @model_validator(mode="after")
    def _fits(self) -> EncoderSourceConfig:
        if self.label not in LABELS[self.format]:
            raise ValueError(
                f"the format {self.format} gives no label {self.label}, "
                f"but {' and '.join(LABELS[self.format])}"
            )
        if self.run is not None and self.label != "judgements":
            raise ValueError("only the label judgements takes a run")
        if self.negatives and self.format != "pairs":
            raise ValueError("negatives are mined for the format pairs only")
        return self


class EncoderDataConfig(EncoderSourceConfig):
    """Rows that the model learns from."""

    weight: float = Field(1.0, gt=0, description="How much a question counts in the loss.")
    repeat: int = Field(1, ge=1, description="Times a question is seen in an epoch, with other passages.")
    held_out: int = Field(0, ge=0, description="Questions that are kept for the dev metric, nDCG@10.")


class EncoderDevConfig(EncoderSourceConfig):
    """Rows on which the model is measured while it is trained."""

    measure: Measure = Field("ndcg", description="What is measured.")


class EncoderTrainingConfig(Section):
    """How long, how fast, and in which order."""

    epochs: int = Field(1, ge=1, description="Times that each question is seen, times its `repeat`.")
    steps: int | None = Field(None, ge=1, description="Most steps; all of the epochs by default.")
    batch: int = Field(16, ge=1, description="Questions of a step.")
    list_size: int = Field(8, ge=1, description="Most passages of a question in a step.")
    learning_rate: float = Field(2e-4, gt=0, description="Highest learning rate of AdamW.")
    warmup: float = Field(0.1, ge=0, lt=1, description="Share of the steps in which it rises to that.")
    schedule: Literal["linear", "cosine", "constant"] = Field("linear", description="How it falls then.")
    weight_decay: float = Field(0.01, ge=0, description="Weight decay of AdamW.")
    clip: float = Field(1.0, gt=0, description="Norm that gradients are cut to.")
    seed: int = Field(0, ge=0, description="Seed of all that is random.")
    eval_every: int = Field(100, ge=1, description="Steps between two dev metrics, with a checkpoint each.")
    patience: int | None = Field(None, ge=1, description="Dev metrics without a gain after which it ends.")
    log_every: int = Field(10, ge=1, description="Steps between two lines of the log.")
    threads: int = Field(2, ge=1, description="CPU threads.")


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
        names = [source.name for source in self.data]
        if len(set(names)) < len(names):
            raise ValueError("two sources of data have the same name")
        dev = [source.name for source in self.dev] + [s.name for s in self.data if s.held_out]
        if len(set(dev)) < len(dev):
            raise ValueError("two sources of dev rows have the same name")
        if "dev" in dev:
            raise ValueError("no source of dev rows can be named dev, as the mean over all of them is")
        for objective in self.objectives:
            for source in objective.sources:
                if source not in names:
                    raise ValueError(
                        f"the objective {objective.name} is for a source {source!r}, which is not in data"
                    )
        for name in names:
            if not any(not objective.sources or name in objective.sources for objective in self.objectives):
                raise ValueError(f"no objective is for the source {name!r}")
        if self.training.patience is not None and not dev:
            raise ValueError("patience needs dev rows: add [[dev]], or held_out to a source")
        return self

    @property
    def teachers(self) -> tuple[EncoderKlConfig, ...]:
        """The objectives that learn from an encoder, one of each encoder."""
        found = {each.encoder: each for each in self.objectives if isinstance(each, EncoderKlConfig)}
        return tuple(found.values())


def load_config(file: Path) -> EncoderRecipe:
    """Read a configuration; raises `InputError` for what is missing, unknown or wrong in it."""
    return load_recipe(EncoderRecipe, file, "docs/training-retriever.md")
