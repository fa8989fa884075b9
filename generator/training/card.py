"""The model card of a generator: how it came about, and how well it does."""

from __future__ import annotations

from pathlib import Path

from citewell.core.redact import published_name
from citewell.core.tables import markdown_table
from citewell.core.training.card import card_name, held_out
from citewell.core.training.card import write_card as write
from citewell.core.training.files import DataFile, describe_file
from citewell.generator.training.config import GeneratorRecipe
from citewell.generator.training.fit import GeneratorRunResult
from citewell.generator.training.sources import GeneratorData, source_files

_PACKAGES = ("torch", "transformers", "trl", "peft")

_CARD = """\
---
{front}
tags: [citewell, cited-answers]
---

# {name}

A language model that answers a question from numbered references, and cites them as `[1][3]`. It was trained
with Citewell from {base}. {form}

## How to use it

`citewell ask QUESTION --generator FOLDER` asks it as it was trained to be asked, as `citewell.json` says:
{prompt}.

## How it was trained

- Command: `{command}`
- Date: {date}
- Time: {time} on {device} ({hours:.2f} hours), about {rate:,.0f} tokens a second
- Steps: {steps:,}; the weights are those of step {best:,}{ema}
- Seed: {seed}
- Versions: {versions}

The configuration, with all defaults, is in `run.json`; the course of the training in `training.jsonl` and
`training.png`. The loss is that of the answers' tokens only.

## Data

{data}

## Dev metrics

{metrics}
"""

_METRICS = """\
| measure | before | after |
|---|---:|---:|
{rows}

{measured:,} rows were not learnt from, but the best checkpoint was chosen by them. `answer_loss` is the loss
of their answers, a token.{cited} Compare generators with `citewell eval generation`.
"""

_CITED = """ Citation recall and precision are ALCE's, of {answered} answers as the model writes them, before
any correction, judged by ROUGE-1; the data may have been filtered by that too."""


def write_card(
    folder: Path,
    config: GeneratorRecipe,
    recipe: Path,
    data: GeneratorData,
    command: str,
    outcome: GeneratorRunResult,
) -> None:
    """Write the card and, for programs, the record of the same."""
    training = config.training
    write(
        folder,
        _CARD,
        command=command,
        seed=training.seed,
        packages=_PACKAGES,
        outcome=outcome,
        files=(files := _files(config, recipe)),
        counts={
            "rows": {source.name: len(source.examples) for source in data.train},
            "dev_rows": {source.name: len(source.examples) for source in data.dev},
        },
        fields={
            "front": _front(config),
            "name": card_name(folder),
            "base": published_name(config.model.base),
            "form": _form(config),
            "prompt": _prompt(config),
            "device": outcome.device,
            "rate": outcome.tokens / max(outcome.seconds, 1e-9),
            "ema": f", averaged with a decay of {training.ema}" if training.ema is not None else "",
            "data": _data_table(data, files),
            "metrics": _metrics(config, data, outcome) if outcome.after else "None: the run had no dev rows.",
        },
    )


def _files(config: GeneratorRecipe, recipe: Path) -> list[DataFile]:
    uses = [(source, "train") for source in config.data] + [(source, "dev") for source in config.dev]
    return [
        describe_file(path, source=source.name, licence=source.licence, use=use)
        for source, use in uses
        for path in source_files(source, recipe)
    ]


def _front(config: GeneratorRecipe) -> str:
    library = "peft" if config.model.tuning == "lora" else "transformers"
    base = published_name(config.model.base)
    return f"library_name: {library}\npipeline_tag: text-generation\nbase_model: {base}"


def _form(config: GeneratorRecipe) -> str:
    if config.model.tuning == "full":
        return "All of its weights were trained."
    lora = config.model.lora
    return (
        f"This folder holds its LoRA adapter of rank {lora.rank} (alpha {lora.alpha}), in the PEFT format,\n"
        f"for the layers {', '.join(lora.targets)}."
    )


def _prompt(config: GeneratorRecipe) -> str:
    prompt = config.prompt
    order = "the question before" if prompt.question_first else "the question after"
    example = "with" if prompt.demonstration else "without"
    return f"{example} a demonstration, {order} its {prompt.references} references"


def _data_table(data: GeneratorData, files: list[DataFile]) -> str:
    counts = {("train", source.name): len(source.examples) for source in data.train}
    counts |= {("dev", source.name): len(source.examples) for source in data.dev}
    rows = [
        [
            each.use,
            each.source,
            f"{counts[each.use, each.source]:,}",
            f"`{each.name}`",
            each.licence,
            each.sha256,
        ]
        for each in files
    ]
    return markdown_table(["use", "source", "rows", "file", "licence", "SHA-256"], rows) + held_out(
        [each.name for each in data.train], [each.name for each in data.dev], "rows"
    )


def _metrics(config: GeneratorRecipe, data: GeneratorData, outcome: GeneratorRunResult) -> str:
    rows = [f"| {name} | {outcome.before[name]:.4f} | {value:.4f} |" for name, value in outcome.after.items()]
    measured = sum(len(source.examples) for source in data.dev)
    answered = min(config.training.generate, measured)
    cited = _CITED.format(answered=answered) if answered else ""
    return _METRICS.format(rows="\n".join(rows), measured=measured, cited=cited).rstrip()
