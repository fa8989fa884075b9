"""The model card of a trained encoder."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import Run, RunResult
from citewell.retriever.encoder.conversion import digests, encoder_digest
from citewell.retriever.encoder.resolve import resolve
from citewell.retriever.training.config import EncoderRecipe
from citewell.retriever.training.sources import EncoderData

_ABOUT = """\
A dual encoder for questions and passages, trained with Citewell from {base}. The inner product of the two
vectors is the relevance of the passage to the question.

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{name}")
scores = model.encode_query(["a question"]) @ model.encode_document(["Title. A passage."]).T
```

{form}"""

_METRICS = """\
{table}

`dev` is the mean of all dev sets, and selected the best checkpoint; the model was not trained on these
questions. The metrics: {measures}."""


def describe(
    config: EncoderRecipe, run: Run, data: EncoderData, files: Sequence[DataFile], result: RunResult
) -> ModelCard:
    """Return the encoder's part of its model card."""
    base = published_name(config.model.base)
    questions = {source.name: len(source.rows) for source in data.train}
    dev_questions = {each.name: len(each.rows) for each in data.dev}
    counts = {("train", name): f"{count:,}" for name, count in questions.items()}
    counts |= {("dev", name): f"{count:,}" for name, count in dev_questions.items()}
    labels = {("train", source.name): source.label for source in config.data}
    labels |= {("dev", source.name): source.label for source in config.dev}
    table = metrics_table({"before": result.before, "after": result.after})
    measures = ", ".join(f"{each.measure} of {each.name}" for each in data.dev)
    return ModelCard(
        front={
            "library_name": "sentence-transformers",
            "pipeline_tag": "sentence-similarity",
            "tags": "[sentence-transformers, citewell, dense-retrieval]",
        },
        about=_ABOUT.format(base=base, name=run.out.resolve().name, form=_form(config)),
        data=data_table(files, {"label": labels, "questions": counts})
        + held_out(questions, dev_questions, "questions")
        + _teachers(config, run),
        metrics=table and _METRICS.format(table=table, measures=measures),
        counts={"questions": questions, "dev_questions": dev_questions},
        packages=("torch", "transformers", "sentence-transformers", "peft"),
    )


def _form(config: EncoderRecipe) -> str:
    towers = "two towers" if config.model.towers == "two" else "one encoder for both sides"
    if config.model.tuning == "full":
        return f"It has {towers}; all weights were trained."
    lora = config.model.lora
    return (
        f"It has {towers}, adapted by LoRA of rank {lora.rank} (alpha {lora.alpha}) in "
        f"{lora.layers}.\nThe adapters are merged; `adapters/` has them in PEFT's format."
    )


def _teachers(config: EncoderRecipe, run: Run) -> str:
    """Return the teachers, each with its license and the SHA-256 of its two towers."""
    lines = []
    for each in config.teachers:
        towers = resolve(each.teacher(run.folders))
        known = encoder_digest(towers, digests(towers))
        name = published_name(each.encoder)
        lines.append(f"\n\nTaught by the encoder {name} ({each.license}; SHA-256 {known}).")
    return "".join(lines)
