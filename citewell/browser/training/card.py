"""The model card of a policy: how it came about, and how well it does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from citewell.browser.training.config import PolicyRecipe
from citewell.browser.training.sources import PolicyData, source_files
from citewell.core.redact import published_name
from citewell.core.tables import markdown_table
from citewell.core.training.card import card_name, held_out
from citewell.core.training.card import write_card as write
from citewell.core.training.files import DataFile, describe_file
from citewell.generator.training.fit import GeneratorRunResult

_PACKAGES = ("torch", "transformers", "trl", "peft")

_CARD = """\
---
library_name: peft
pipeline_tag: text-generation
base_model: {base}
tags: [citewell, text-browser]
---

# {name}

A policy for Citewell's text browser: from a state of the browser as text, it writes the next command. It was
cloned with Citewell from demonstrations, beginning with {base}.

## How to use it

`citewell browse QUESTION --policy FOLDER` browses with it, in a browser with the limits of `policy.json`. The
state is the whole of the user's message, and the command the whole of the answer.

## How it was trained

- Command: `{command}`
- Date: {date}
- Time: {time} on {device} ({hours:.2f} hours), about {rate:,.0f} tokens a second
- Steps: {steps:,}; the weights are those of step {best:,}{ema}
- Seed: {seed}
- Versions: {versions}

The configuration, with all defaults, is in `run.json`; the course of the training in `training.jsonl` and
`training.png`. The loss is that of the commands' tokens only.

## Data

{data}

Commands to learn from: {kinds}.

## Dev metrics

{metrics}
"""

_METRICS = """\
| measure | before | after |
|---|---:|---:|
{rows}

`command_loss` is the loss of held-out demonstrations, a token of their commands. `reward` is the share of
episodes, browsed by the policy as it was trained, in which a quote has the answer, and `valid` the share of
its commands that are valid, both without a grammar. The best checkpoint was chosen by `{chosen_by}`."""


def write_card(
    folder: Path,
    config: PolicyRecipe,
    recipe: Path,
    data: PolicyData,
    command: str,
    outcome: GeneratorRunResult,
) -> None:
    """Write the card and, for programs, the record of the same."""
    training = config.training
    files = [
        describe_file(path, source=source.name, licence=source.licence, use="train")
        for source in config.data
        for path in source_files(source, recipe)
    ]
    kinds = Counter(pair.kind for source in data.train for pair in source.pairs)
    write(
        folder,
        _CARD,
        command=command,
        seed=training.seed,
        packages=_PACKAGES,
        outcome=outcome,
        files=files,
        counts={
            "pairs": {source.name: len(source.pairs) for source in data.train},
            "dev_pairs": {source.name: len(source.pairs) for source in data.dev},
            "kinds": dict(kinds),
        },
        fields={
            "name": card_name(folder),
            "base": published_name(config.model.base),
            "device": outcome.device,
            "rate": outcome.tokens / max(outcome.seconds, 1e-9),
            "ema": f", averaged with a decay of {training.ema}" if training.ema is not None else "",
            "data": _data_table(data, files),
            "kinds": ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()),
            "metrics": _metrics(config, outcome) if outcome.after else "None: nothing was held out.",
        },
    )


def _data_table(data: PolicyData, files: list[DataFile]) -> str:
    counts = {source.name: len(source.pairs) for source in data.train}
    rows = [
        [each.source, f"{counts[each.source]:,}", f"`{each.name}`", each.licence, each.sha256]
        for each in files
    ]
    return markdown_table(["source", "commands", "file", "licence", "SHA-256"], rows) + held_out(
        [each.name for each in data.train], [each.name for each in data.dev], "questions"
    )


def _metrics(config: PolicyRecipe, outcome: GeneratorRunResult) -> str:
    rows = "\n".join(
        f"| {name} | {outcome.before[name]:.4f} | {value:.4f} |" for name, value in outcome.after.items()
    )
    return _METRICS.format(rows=rows, chosen_by=config.training.choose_by)
