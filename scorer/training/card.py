"""The model card of a scorer: how it came about, how well it does, and what length has to do with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from citewell.core.tables import markdown_table
from citewell.core.training.card import write_card as write
from citewell.core.training.files import DataFile, describe_file
from citewell.scorer.form import Form
from citewell.scorer.training.config import ScorerRecipe, ScorerSourceConfig
from citewell.scorer.training.measures import MATCHED
from citewell.scorer.training.sources import Sources, source_files

_PACKAGES = ("torch", "transformers", "peft")

_CARD = """\
---
library_name: citewell
base_model: {base}
tags: [citewell, preference-model, reward-model]
---

# {name}

A preference model that gives an answer to a question a number: the more people like such answers, the higher
it is. It was trained with Citewell from {base}. {form}

## How to use it

`citewell ask QUESTION --scorer FOLDER --best-of 4` chooses among four answers with it. Scores have mean 0 and
deviation 1 over the answers that it learnt from; sigmoid({elo:.3f} × the difference of two scores) is the
probability that people prefer the first. It does not know what is true: an answer that reads well and is
wrong may have a high score.

## How it was trained

- Command: `{command}`
- Date: {date}
- Time: {time} on {device}
- {course}
- Formulation: {formulation}
- Seed: {seed}
- Versions: {versions}

The configuration, with all defaults, is in `run.json`{plot}.

## Data

{data}

## How well it tells which of two answers people prefer

{metrics}

Dev questions chose the best step, test questions did not. `accuracy` is the share of pairs in which the
preferred answer has the higher score, `longer_wins` the share in which it is the longer one: a scorer that
does not beat that has learnt nothing but length. `length_matched` is the accuracy over pairs whose lengths
differ by at most {matched:.0%}, and `length_correlation` how differences in score go with differences in the
logarithm of length, from -1 to 1. `pair_loss` is the cross-entropy of what people said.{pinned}
"""


@dataclass(frozen=True)
class ScorerRunResult:
    """What a run came to. `before` and `after` are dev metrics by name, `test` those at the end.

    `tokens` were learnt from, with padding, on `device`. `checked` is what the gate measured.
    """

    steps: int
    best_step: int
    seconds: float
    device: str
    tokens: int
    before: Mapping[str, float]
    after: Mapping[str, float]
    test: Mapping[str, float]
    checked: Mapping[str, float]


def write_card(
    folder: Path,
    name: str,
    config: ScorerRecipe,
    recipe: Path,
    sources: Sources,
    command: str,
    outcome: ScorerRunResult,
    form: Form,
) -> None:
    """Write the card of the scorer `name` and, for programs, the record of the same."""
    files = [
        describe_file(path, source=source.name, licence=source.licence, use=use)
        for source, use in _sources(config)
        for path in source_files(source, recipe)
    ]
    uses = {"train": sources.train, "dev": sources.dev, "test": sources.test}
    training = config.training
    checked = outcome.checked
    write(
        folder,
        _CARD,
        command=command,
        seed=training.seed,
        packages=_PACKAGES,
        outcome=outcome,
        files=files,
        counts={
            "questions": {
                use: {each.name: len(each.groups) for each in found} for use, found in uses.items()
            },
            "comparisons": {
                use: {each.name: each.comparisons for each in found} for use, found in uses.items()
            },
        },
        fields={
            "base": form.base,
            "name": name,
            "form": _form(config),
            "elo": form.elo,
            "device": outcome.device,
            "course": _steps(outcome, config),
            "plot": "; the course of the training in `training.jsonl` and\n`training.png`"
            if outcome.steps
            else "",
            "formulation": config.objective.formulation,
            "data": _data(sources, files),
            "metrics": _metrics(outcome),
            "matched": MATCHED,
            "pinned": f"\n\nOn the pinned test of the scorer that it began with, its accuracy is "
            f"{checked['pinned_after']:.3f}, and was {checked['pinned_before']:.3f}."
            if checked
            else "",
        },
    )


def _sources(config: ScorerRecipe) -> list[tuple[ScorerSourceConfig, str]]:
    return [(source, "train, dev, test") for source in config.data] + [
        (source, "dev") for source in config.dev
    ]


def _steps(outcome: ScorerRunResult, config: ScorerRecipe) -> str:
    if not outcome.steps:
        return f"Steps: none; the head is a linear probe, with a ridge of {config.training.probe}"
    rate = outcome.tokens / max(outcome.seconds, 1e-9)
    ema = config.training.ema
    averaged = f", averaged with a decay of {ema}" if ema is not None else ""
    return (
        f"Steps: {outcome.steps:,}, about {rate:,.0f} tokens a second; the weights are those of step "
        f"{outcome.best_step:,}{averaged}"
    )


def _form(config: ScorerRecipe) -> str:
    lora, model = config.model.lora, config.model
    if model.frozen == 1:
        used = f"the lowest {model.depth} layers of " if model.depth else ""
        return f"This folder holds its head alone, which reads {used}that model as it is."
    share = f"the lowest {model.frozen:.0%} of its layers are as they were" if model.frozen else "all layers"
    if model.tuning == "full":
        return f"This folder holds the weights that differ from it; {share}."
    return (
        f"This folder holds its LoRA adapter of rank {lora.rank} (alpha {lora.alpha}), in the PEFT format,\n"
        f"and its head; {share}."
    )


def _data(sources: Sources, files: list[DataFile]) -> str:
    header = ["use", "source", "questions", "comparisons"]
    uses = {"train": sources.train, "dev": sources.dev, "test": sources.test}
    rows = [
        [use, each.name, f"{len(each.groups):,}", f"{each.comparisons:,}"]
        for use, found in uses.items()
        for each in found
    ]
    named = [[f"`{each.name}`", each.source, each.licence, each.sha256] for each in files]
    return (
        markdown_table(header, rows)
        + "\n\n"
        + markdown_table(["file", "source", "licence", "SHA-256"], named)
    )


def _metrics(outcome: ScorerRunResult) -> str:
    columns = [outcome.before, outcome.after, outcome.test]
    names = list(dict.fromkeys(name for column in columns for name in column))
    if not names:
        return "Nothing was held out to tell."
    rows = [
        [name, *(f"{column[name]:.4f}" if name in column else "" for column in columns)] for name in names
    ]
    return markdown_table(["measure", "dev, before", "dev, after", "test"], rows)
