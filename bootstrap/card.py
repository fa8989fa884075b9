"""The data card: the contents of a bootstrapped data set, its origin, and the excluded samples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.overlap import EvaluationQuestions
from citewell.bootstrap.stats import BootstrapStatistics, funnel_table
from citewell.bootstrap.types import FilterScores, Sample
from citewell.core.splits import Split
from citewell.core.text import shorten, squeeze
from citewell.generator.prompt import Message

# Bounds of the hub's size categories, and their names.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGER = "1M<n<10M"

_CARD = """\
---
pretty_name: {name}
license: {quoted_license}
task_categories: [question-answering, text-generation]
tags: [citewell, citations, webglm]
size_categories: [{size}]
configs:
- config_name: default
  data_files:
{files}
dataset_info:
  features:
  - {{name: id, dtype: string}}
  - {{name: question, dtype: string}}
  - {{name: answer, dtype: string}}
  - {{name: references, list: string}}
  - {{name: titles, list: string}}
  - {{name: urls, list: string}}
  - {{name: teacher, dtype: string}}
  - {{name: prompt_hash, dtype: string}}
  - {{name: license, dtype: string}}
  - name: scores
    struct:
{scores}
---

# {title}

{total:,} questions with references and long answers that cite them as `[n]`, in the form of WebGLM-QA
([Liu et al. 2023](https://arxiv.org/abs/2306.07906)). A teacher wrote the answers; the command below says how
citations were corrected, and the funnel which answers were dropped.

```python
from datasets import load_dataset

rows = load_dataset("{folder}", split="{first}")
```

## Rows

The mark `[n]` in `answer` is the n-th of `references`, whose page is the n-th of `titles` and `urls`.
`scores` are what the filters measured, `prompt_hash` identifies the teacher's prompt, and `license` is that
of the question and of the references that came with it.

| split | rows |
|---|---:|
{splits}

Near-duplicate questions (Jaccard similarity of their words of at least {near:g}) are in the same split.
{left_out}

{compared}

## How it was made

- Teacher: {teachers}
- License: {license}{about}
- Command:

```sh
{command}
```

```
{funnel}
```

`statistics.json` has the lengths, the citations per answer and examples of dropped answers.
{licenses}{prompt}{shown}"""
_EXCERPT = 240  # characters of a reference


class Dataset(NamedTuple):
    """A written data set: its folder, the number of rows of each split, and of excluded samples by reason.

    `compared` are the questions that it must not contain, `shown` rows for its card. `licenses` counts the
    rows by the license of their question, and `prompt` are the messages that the teacher was sent.
    """

    folder: Path
    rows: dict[Split, int]
    left_out: dict[str, int]
    compared: EvaluationQuestions
    statistics: BootstrapStatistics
    shown: tuple[Sample, ...] = ()
    licenses: Mapping[str, int] = MappingProxyType({})
    prompt: tuple[Message, ...] = ()


def card(dataset: Dataset, config: DatasetConfig, command: str) -> str:
    """Return the card as Markdown, with the header that `datasets.load_dataset` reads.

    The same data give the same card.
    """
    total = sum(dataset.rows.values())
    teachers = [f"{name} ({count:,} answers)" for name, count in dataset.statistics.teachers.items()]
    return _CARD.format(
        # A string of JSON is a string of YAML.
        name=json.dumps(config.name, ensure_ascii=False),
        title=config.name,
        license=config.license,
        quoted_license=json.dumps(config.license, ensure_ascii=False),
        about=f". {config.about}" if config.about else "",
        size=next((name for bound, name in _SIZES if total < bound), _LARGER),
        files="\n".join(f"  - {{split: {split}, path: {split}.jsonl}}" for split in dataset.rows),
        total=total,
        folder=dataset.folder.name,
        first=next(iter(dataset.rows), "train"),
        splits="\n".join(f"| {split} | {count:,} |" for split, count in dataset.rows.items()),
        scores="\n".join(f"    - {{name: {name}, dtype: {kind}}}" for name, kind in _scores().items()),
        near=config.near,
        left_out=_left_out(dataset),
        compared=_compared(dataset),
        command=command,
        teachers=", ".join(teachers) or "none",
        funnel=funnel_table(dataset.statistics),
        licenses=_licenses(dataset.licenses),
        prompt=_prompt(dataset.prompt),
        shown=_shown(dataset.shown),
    )


def _scores() -> dict[str, str]:
    """Return the types of the scores and the derived shares, as `datasets` names them."""
    kinds = {int: "int64", float: "float64"}
    stored = {each.name: kinds[each.type] for each in msgspec.structs.fields(FilterScores)}
    return stored | {"accuracy": "float64", "coverage": "float64"}


def _left_out(dataset: Dataset) -> str:
    counts = dataset.left_out
    parts = [
        f"{count:,} that {text}"
        for why, text in (
            ("several_splits", "are similar to questions of several splits"),
            ("evaluation_set", "are similar to a question of an evaluation set, or held out"),
        )
        if (count := counts.get(why))
    ]
    if not parts:
        return "No sample was excluded."
    return f"Excluded, and listed in `left_out.jsonl`: {' and '.join(parts)}."


def _licenses(counts: Mapping[str, int]) -> str:
    """Return the table of the licenses, unless no row names one."""
    if not any(counts):
        return ""
    lines = [f"| {name or 'not stated'} | {count:,} |" for name, count in sorted(counts.items())]
    header = "| license of the question and its own references | rows |\n|---|---:|"
    return "\n".join(["\n## Licenses\n", header, *lines, ""])


def _prompt(messages: Sequence[Message]) -> str:
    if not messages:
        return ""
    parts = [f"{message['role']}:\n\n```\n{message['content']}\n```" for message in messages]
    return "\n\n".join(["\n## The prompt", *parts]) + "\n"


def _shown(samples: Sequence[Sample]) -> str:
    if not samples:
        return ""
    parts = [f"\n## {len(samples):,} rows, drawn by a hash"]
    for sample in samples:
        lines = [
            f"{r.number}. {f'{squeeze(r.title)}: ' if r.title else ''}{shorten(squeeze(r.text), _EXCERPT)}"
            for r in sample.references
        ]
        parts += [f"### {squeeze(sample.question)}", sample.answer, "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _compared(dataset: Dataset) -> str:
    compared = dataset.compared
    parts = []
    if compared.sets:
        parts.append(f"No question is similar to one of these evaluation sets: {_counted(compared.sets)}.")
    if compared.held_out:
        parts.append(
            "No question is similar to a held-out question of these sets; their other questions may be "
            f"included: {_counted(compared.held_out)}."
        )
    if not parts:
        parts.append("The questions were not compared with any evaluation set.")
    parts.append(
        "No question has the same words as a held-out question of Citewell's evaluations of generators."
    )
    return "\n".join(parts)


def _counted(sets: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,} questions)" for name, count in sets.items())
