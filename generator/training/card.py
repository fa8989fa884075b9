"""The generator's part of a model card."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import Run, RunResult
from citewell.core.weights import hub_id
from citewell.generator.training.config import GeneratorRecipe
from citewell.generator.training.sources import GeneratorData

_ABOUT = """\
A language model that answers a question from numbered references, and cites them as `[1][3]`. It was trained
with Citewell from {base}. {form}

## How to use it

`citewell ask QUESTION --generator FOLDER` prompts it as in training, as `citewell.json` says: {prompt}."""

_METRICS = """\
{table}

{rows:,} rows were held out; they selected the best checkpoint by `{selected_by}`. `answer_loss` is the
cross-entropy per token of their answers.{cited} Compare generators with `citewell eval generation`."""

_CITED = """ Citation recall and precision are ALCE's, of {answered} answers as the model writes them, before
any correction, judged by ROUGE-1; the data may have been filtered by that too."""


def describe(
    config: GeneratorRecipe, run: Run, data: GeneratorData, files: Sequence[DataFile], result: RunResult
) -> ModelCard:
    """Return the generator's part of its model card."""
    rows = {source.name: len(source.examples) for source in data.train}
    dev_rows = {source.name: len(source.examples) for source in data.dev}
    counts = {("train", name): f"{count:,}" for name, count in rows.items()}
    counts |= {("dev", name): f"{count:,}" for name, count in dev_rows.items()}
    base = published_name(config.model.base)
    return ModelCard(
        front={
            "library_name": "peft" if config.model.tuning == "lora" else "transformers",
            "pipeline_tag": "text-generation",
            "base_model": hub_id(base),
            "tags": "[citewell, cited-answers]",
        },
        about=_ABOUT.format(base=base, form=_form(config), prompt=_prompt(config)),
        data=data_table(files, {"rows": counts})
        + held_out(rows, dev_rows, "rows")
        + "\n\nThe loss is that of the answers' tokens only.",
        metrics=_metrics(config, sum(dev_rows.values()), result),
        counts={"rows": rows, "dev_rows": dev_rows},
        packages=("torch", "transformers", "trl", "peft"),
    )


def _form(config: GeneratorRecipe) -> str:
    if config.model.tuning == "full":
        return "All weights were trained."
    lora = config.model.lora
    return (
        f"This folder holds its LoRA adapter of rank {lora.rank} (alpha {lora.alpha}), in PEFT's format,\n"
        f"for {lora.layers}."
    )


def _prompt(config: GeneratorRecipe) -> str:
    prompt = config.prompt
    order = "the question before" if prompt.question_first else "the question after"
    example = "with" if prompt.demonstration else "without"
    return f"{example} a demonstration, {order} its {prompt.references} references"


def _metrics(config: GeneratorRecipe, rows: int, result: RunResult) -> str:
    table = metrics_table({"before": result.before, "after": result.after})
    answered = min(config.training.generate, rows)
    cited = _CITED.format(answered=answered) if answered else ""
    return table and _METRICS.format(
        table=table, rows=rows, selected_by=config.training.choose_by, cited=cited
    )
