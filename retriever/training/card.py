"""The model card: how a model came about, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.core.redact import published_name
from citewell.core.tables import markdown_table
from citewell.core.training.card import card_name, held_out
from citewell.core.training.card import write_card as write
from citewell.core.training.files import DataFile, describe_file
from citewell.retriever.encoder.conversion import digest, digests
from citewell.retriever.encoder.resolve import resolve
from citewell.retriever.training.config import EncoderRecipe, EncoderSourceConfig
from citewell.retriever.training.sources import EncoderData, source_files

_PACKAGES = ("torch", "transformers", "sentence-transformers", "peft")

_CARD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, citewell, dense-retrieval]
---

# {name}

A dual encoder for questions and passages, trained with Citewell from {base}. The inner product of the two
vectors is the passage's relevance for the question.

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{name}")
scores = model.encode_query(["a question"]) @ model.encode_document(["Title. A passage."]).T
```

{form}

## How it was trained

- Command: `{command}`
- Date: {date}
- Time: {time} on {threads} CPU threads ({hours:.2f} hours)
- Steps: {steps:,}; the weights are those of step {best:,}
- Seed: {seed}
- Versions: {versions}

The configuration, with all defaults, is in `run.json`; the course of the training in `training.jsonl` and
`training.png`.

## Data

{data}

## Dev metrics

{metrics}

These questions were not learnt from, but the best checkpoint was chosen by them.
"""


@dataclass(frozen=True)
class EncoderRunResult:
    """What a run came to. `before` and `after` are dev metrics by name, empty without dev rows."""

    steps: int
    best_step: int
    seconds: float
    before: Mapping[str, float]
    after: Mapping[str, float]


def write_card(
    folder: Path,
    config: EncoderRecipe,
    file: Path,
    data: EncoderData,
    command: str,
    outcome: EncoderRunResult,
) -> None:
    """Write the card and, for programs, the record of the same; `file` is the configuration's."""
    files = [
        describe_file(path, source=source.name, licence=source.licence, use=use)
        for source, use in _sources(config)
        for path in source_files(source, file)
    ]
    write(
        folder,
        _CARD,
        command=command,
        seed=config.training.seed,
        packages=_PACKAGES,
        outcome=outcome,
        files=files,
        counts={
            "questions": {source.name: len(source.rows) for source in data.train},
            "dev_questions": {each.name: len(each.rows) for each in data.dev},
        },
        fields={
            "name": card_name(folder),
            "base": published_name(config.model.base),
            "form": _form(config),
            "threads": config.training.threads,
            "data": _data_table(config, data, files) + _teachers(config, file),
            "metrics": _metric_table(outcome, data) if outcome.after else "None: the run had no dev rows.",
        },
    )


def _sources(config: EncoderRecipe) -> list[tuple[EncoderSourceConfig, str]]:
    return [(source, "train") for source in config.data] + [(source, "dev") for source in config.dev]


def _form(config: EncoderRecipe) -> str:
    towers = "two towers" if config.model.towers == "two" else "one encoder for both sides"
    if config.model.tuning == "full":
        return f"It has {towers}, all of whose weights were trained."
    lora = config.model.lora
    return (
        f"It has {towers}, adapted by LoRA of rank {lora.rank} (alpha {lora.alpha}) in the layers "
        f"{', '.join(lora.targets)}.\nThe adapters are merged; in the PEFT format they are in `adapters/`."
    )


def _data_table(config: EncoderRecipe, data: EncoderData, files: Sequence[DataFile]) -> str:
    counts = {("train", source.name): len(source.rows) for source in data.train}
    counts |= {("dev", each.name): len(each.rows) for each in data.dev}
    labels = {(use, source.name): source.label for source, use in _sources(config)}
    header = ["use", "source", "label", "questions", "file", "licence", "SHA-256"]
    rows = [
        [
            each.use,
            each.source,
            labels[each.use, each.source],
            f"{counts[each.use, each.source]:,}",
            f"`{each.name}`",
            each.licence,
            each.sha256,
        ]
        for each in files
    ]
    return markdown_table(header, rows) + held_out(
        [each.name for each in data.train], [each.name for each in data.dev], "questions"
    )


def _teachers(config: EncoderRecipe, file: Path) -> str:
    """The encoders that were learnt from, each with its licence and the SHA-256 of its two towers."""
    lines = []
    for each in config.teachers:
        towers = resolve(each.teacher(file))
        known = digest(towers, digests(towers))
        name = published_name(each.encoder)
        lines.append(f"\n\nTaught by the encoder {name} ({each.licence}; SHA-256 {known}).")
    return "".join(lines)


def _metric_table(outcome: EncoderRunResult, data: EncoderData) -> str:
    measures = {each.name: each.measure for each in data.dev}
    lines = ["| dev set | measure | before | after |", "|---|---|---:|---:|"]
    lines += [
        f"| {name} | {measures.get(name, 'mean of all')} | {outcome.before[name]:.4f} | {value:.4f} |"
        for name, value in outcome.after.items()
    ]
    return "\n".join(lines)
