"""The model card of a trained cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import Run, RunResult
from citewell.core.weights import hub_id
from citewell.core.windows import WINDOW_WORDS
from citewell.retriever.cross_encoder.training.config import RerankerRecipe
from citewell.retriever.training.sources import EncoderData

_ABOUT = """\
A cross-encoder that reads a question together with a passage, trained with Citewell from {base}{start}.
The output is the logit of the probability that the passage answers the question; added to {scale:g} × the
inner product of the dual encoder {encoder}, it orders candidates.

{form} `citewell ask QUESTION --set retriever.reranker=FOLDER` uses it."""

_ABOUT_ALONE = """\
A cross-encoder that reads a question together with a passage or a sentence, trained with Citewell from
{base}{start}. The output is the logit of the probability that the passage answers the question.

{form} `citewell ask QUESTION --set retriever.reader=FOLDER` uses it."""

_ABOUT_SUPPORT = """\
A cross-encoder that reads a claim together with a passage of at most {words} words, trained with Citewell
from {base}{start}. The output is the logit of the probability that the passage supports the claim.

{form}"""

_LORA = """\
This folder holds its LoRA adapter of rank {rank} (alpha {alpha}) in {layers}, in PEFT's format, and its head,
a linear layer on the {pooling} of the states."""

_FULL = """\
This folder holds its layers, as int8 with a scale per row, and its head, a linear layer on the {pooling} of
the states. The embeddings are those of the base."""

_METRICS = """\
{table}

`dev` is the mean of all dev sets, and selected the best checkpoint; the model was not trained on these
questions. The metrics are nDCG@10 of the passages in the order of the scores added to the dual encoder's;
`alone` is that of the scores alone. Before training, the order is nearly the dual encoder's."""

_METRICS_ALONE = """\
{table}

`dev` is the mean of all dev sets, and selected the best checkpoint; the model was not trained on these
questions. The metrics are nDCG@10 of the passages in the order of the scores."""

_SUPPORT_METRICS = """\
{table}

`dev` is the mean of all dev sets, and selected the best checkpoint; the model was not trained on these
claims. The metric is the area under the ROC curve."""


def describe(
    config: RerankerRecipe, run: Run, data: EncoderData, files: Sequence[DataFile], result: RunResult
) -> ModelCard:
    """Return the cross-encoder's part of its model card."""
    what = "claims" if config.reads_claims else "questions"
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
            "base_model": hub_id(published_name(config.model.base)),
            "pipeline_tag": "text-classification" if config.reads_claims else "text-ranking",
            "tags": f"[citewell, cross-encoder, {'support' if config.reads_claims else 'reranker'}]",
        },
        about=_about(config),
        data=data_table(files, {"label": labels, what: counts}) + held_out(questions, dev_questions, what),
        metrics=table and _metrics(config).format(table=table),
        counts={what: questions, f"dev_{what}": dev_questions},
        packages=("torch", "transformers", "peft"),
    )


def _about(config: RerankerRecipe) -> str:
    lora = config.model.lora
    pooling = "mean" if config.model.pooling == "mean" else "first"
    if config.model.tuning == "full":
        form = _FULL.format(pooling=pooling)
    else:
        form = _LORA.format(rank=lora.rank, alpha=lora.alpha, layers=lora.layers, pooling=pooling)
    alone = _ABOUT if config.objective.scale else _ABOUT_ALONE
    return (_ABOUT_SUPPORT if config.reads_claims else alone).format(
        base=published_name(config.model.base),
        start=f", beginning with {published_name(config.model.start)}" if config.model.start else "",
        scale=config.objective.scale,
        encoder=published_name(config.objective.encoder),
        words=WINDOW_WORDS,
        form=form,
    )


def _metrics(config: RerankerRecipe) -> str:
    if config.reads_claims:
        return _SUPPORT_METRICS
    return _METRICS if config.objective.scale else _METRICS_ALONE
