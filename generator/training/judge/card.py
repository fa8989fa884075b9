"""The judge's part of a model card."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import Run, RunResult
from citewell.core.weights import hub_id
from citewell.generator.training.judge.config import JudgeRecipe
from citewell.generator.training.judge.dev import AREA, LOSS
from citewell.generator.training.judge.examples import JudgeData

_ABOUT = """\
An adapter for {base}, trained with Citewell, with which it judges better: whether a passage supports a
claim, whether it answers a question, whether an answer is right by it, and whether a sentence answers. It is
asked with Citewell's prompts, and the probability of yes against no as the first word is its judgment.

This folder holds its LoRA adapter of rank {rank} (alpha {alpha}), in PEFT's format, for
{layers}
from layer {first} on. Written text does not use it."""

_METRICS = """\
{table}

`{loss}` is the binary cross-entropy of yes, and selected the best checkpoint; `{area}` is the area under the
ROC curve, of each source and in the mean. The model was not trained on these examples."""


def describe(
    config: JudgeRecipe, run: Run, data: JudgeData, files: Sequence[DataFile], result: RunResult
) -> ModelCard:
    """Return the judge's part of its model card."""
    counts = {source.name: len(source.examples) for source in data.train}
    dev_counts = {source.name: len(source.examples) for source in data.dev}
    asked = {("train", source.name): source.asks for source in config.data}
    base, lora = published_name(config.model.base), config.model.lora
    table = metrics_table({"before": result.before, "after": result.after})
    return ModelCard(
        front={
            "library_name": "peft",
            "pipeline_tag": "text-classification",
            "base_model": hub_id(base),
            "tags": "[citewell, judge]",
        },
        about=_ABOUT.format(
            base=base, rank=lora.rank, alpha=lora.alpha, layers=lora.layers, first=config.model.first_layer
        ),
        data=data_table(
            files,
            {"asks": asked, "examples": {("train", name): f"{count:,}" for name, count in counts.items()}},
        )
        + held_out(counts, dev_counts, "examples"),
        metrics=table and _METRICS.format(table=table, loss=LOSS, area=AREA),
        counts={"examples": counts, "dev_examples": dev_counts},
        packages=("torch", "transformers", "peft"),
    )
