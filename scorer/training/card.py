"""The model card of a trained scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.core.redact import published_name
from citewell.core.tables import markdown_table
from citewell.core.training.card import DataFile, ModelCard, data_table, metrics_table
from citewell.core.training.run import Run, RunResult
from citewell.core.weights import hub_id
from citewell.scorer.training.config import ScorerRecipe
from citewell.scorer.training.measures import MATCHED
from citewell.scorer.training.sources import Sources

_ABOUT = """\
A preference model that scores an answer to a question: the more people like such answers, the higher the
score. It was trained with Citewell from {base}. {form}

## How to use it

`citewell ask QUESTION --scorer FOLDER --best-of 4` selects among four answers with it. Scores have mean 0 and
standard deviation 1 over its training answers; sigmoid({elo:.3f} × the difference of two scores) is the
probability that people prefer the first. It does not judge truth: an answer that reads well and is wrong may
have a high score."""

_METRICS = """\
{table}

Dev questions selected the best checkpoint, test questions did not. `accuracy` is the share of pairs in which
the preferred answer has the higher score, `longer_wins` the share in which it is the longer one: a scorer
should beat that. `length_matched` is the accuracy over pairs whose lengths differ by at most {matched:.0%},
and `length_correlation` the correlation between differences in score and in the logarithm of length.
`pair_loss` is the cross-entropy of the preferences.{pinned}"""


def describe(
    config: ScorerRecipe,
    run: Run,
    sources: Sources,
    files: Sequence[DataFile],
    result: RunResult,
    elo: float,
    checked: Mapping[str, float],
) -> ModelCard:
    """Return the scorer's part of its model card; `checked` are the measures of the gate."""
    uses = {"train": sources.train, "dev": sources.dev, "test": sources.test}
    questions = {use: {each.name: len(each.groups) for each in found} for use, found in uses.items()}
    comparisons = {use: {each.name: each.comparisons for each in found} for use, found in uses.items()}
    base = published_name(config.model.base)
    table = metrics_table({"dev, before": result.before, "dev, after": result.after, "test": result.test})
    return ModelCard(
        front={
            "library_name": "citewell",
            "base_model": hub_id(base),
            "tags": "[citewell, preference-model, reward-model]",
        },
        about=_ABOUT.format(base=base, form=_form(config), elo=elo),
        data=_split_table(questions, comparisons) + "\n\n" + data_table(files, {}),
        metrics=table and _METRICS.format(table=table, matched=MATCHED, pinned=_pinned(checked)),
        counts={"questions": questions, "comparisons": comparisons, "checked": dict(checked)},
        packages=("torch", "transformers", "peft"),
    )


def _form(config: ScorerRecipe) -> str:
    lora, model = config.model.lora, config.model
    formulation = f"Formulation: {config.objective.formulation}."
    if model.frozen == 1:
        used = f"the lowest {model.depth} layers of " if model.depth else ""
        probe = f", a linear probe with ridge {config.training.probe}" if config.training.steps == 0 else ""
        return f"This folder holds only its head{probe}, on {used}the unchanged base. {formulation}"
    share = f"all but the lowest {model.frozen:.0%} of its layers" if model.frozen else "all layers"
    if model.tuning == "full":
        return f"This folder holds the trained weights, of {share}. {formulation}"
    return (
        f"This folder holds its LoRA adapter of rank {lora.rank} (alpha {lora.alpha}), in PEFT's format,\n"
        f"for {share}, and its head. {formulation}"
    )


def _split_table(
    questions: Mapping[str, Mapping[str, int]], comparisons: Mapping[str, Mapping[str, int]]
) -> str:
    rows = [
        [use, name, f"{count:,}", f"{comparisons[use][name]:,}"]
        for use, found in questions.items()
        for name, count in found.items()
    ]
    return markdown_table(["split", "source", "questions", "comparisons"], rows)


def _pinned(checked: Mapping[str, float]) -> str:
    if not checked:
        return ""
    return (
        "\n\nOn the pinned test of the scorer that it started from, its accuracy is "
        f"{checked['pinned_after']:.3f}; that scorer's is {checked['pinned_before']:.3f}."
    )
