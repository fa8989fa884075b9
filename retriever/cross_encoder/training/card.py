"""The model card of a trained cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import Run, RunResult
from citewell.core.weights import hub_id
from citewell.retriever.cross_encoder.training.config import RerankerRecipe
from citewell.retriever.training.sources import EncoderData

_ABOUT = """\
A cross-encoder that reads a question together with a passage, trained with Citewell from {base}{start}.
The output is the logit of the probability that the passage answers the question; added to {scale:g} × the
inner product of the dual encoder {encoder}, it orders candidates.

This folder holds its LoRA adapter of rank {rank} (alpha {alpha}) in {layers}, in PEFT's format, and its head,
a linear layer on the {pooling} of the states. `citewell ask QUESTION --set retriever.reranker=FOLDER` uses
it."""

_METRICS = """\
{table}

`dev` is the mean of all dev sets, and selected the best checkpoint; the model was not trained on these
questions. The metrics are nDCG@10 of the passages in the order of the scores added to the dual encoder's;
`alone` is that of the scores alone. Before training, the order is nearly the dual encoder's."""


def describe(
    config: RerankerRecipe, run: Run, data: EncoderData, files: Sequence[DataFile], result: RunResult
) -> ModelCard:
    """Return the cross-encoder's part of its model card."""
    base, lora = published_name(config.model.base), config.model.lora
    questions = {source.name: len(source.rows) for source in data.train}
    dev_questions = {each.name: len(each.rows) for each in data.dev}
    counts = {("train", name): f"{count:,}" for name, count in questions.items()}
    counts |= {("dev", name): f"{count:,}" for name, count in dev_questions.items()}
    labels = {("train", source.name): source.label for source in config.data}
    labels |= {("dev", source.name): source.label for source in config.dev}
    table = metrics_table({"before": result.before, "after": result.after})
    return ModelCard(
        front={
            "library_name": "citewell",
            "base_model": hub_id(base),
            "pipeline_tag": "text-ranking",
            "tags": "[citewell, cross-encoder, reranker]",
        },
        about=_ABOUT.format(
            base=base,
            start=f", beginning with {published_name(config.model.start)}" if config.model.start else "",
            scale=config.objective.scale,
            encoder=published_name(config.objective.encoder),
            rank=lora.rank,
            alpha=lora.alpha,
            layers=lora.layers,
            pooling="mean" if config.model.pooling == "mean" else "first",
        ),
        data=data_table(files, {"label": labels, "questions": counts})
        + held_out(questions, dev_questions, "questions"),
        metrics=table and _METRICS.format(table=table),
        counts={"questions": questions, "dev_questions": dev_questions},
        packages=("torch", "transformers", "peft"),
    )
