"""The model card of a policy that was trained by PPO in the text browser."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, metrics_table
from citewell.core.training.run import RunResult
from citewell.core.weights import hub_id
from citewell.generator.resolve import ModelSource
from citewell.reinforcement.browsing.config import BrowsingRecipe
from citewell.reinforcement.card import model_lines, objective_lines

_ABOUT = """\
A policy for Citewell's text browser. It was trained with Citewell from {start} by PPO, with the reward
`{reward}` at the end of each episode, and a penalty of the KL divergence from the start.

## How to use it

`citewell browse QUESTION --policy FOLDER` browses with it, in a browser with the limits of
`policy.json`.{answers}

## The objective

{objective}"""

_ANSWERS = """ It also
answers, with `--set browser.answerer=policy`."""

_METRICS = """\
{table}

One episode for each of {questions:,} dev questions, drawn at temperature 1 from the averaged weights: `score`
is the reward, `kl` the KL divergence from the start in nats per episode, `found` the share of episodes in
which a quote has an accepted answer, `valid` the share of valid commands."""


def describe(
    config: BrowsingRecipe,
    source: ModelSource,
    counts: dict[str, int],
    files: Sequence[DataFile],
    models: Sequence[DataFile],
    result: RunResult,
) -> ModelCard:
    """Return the part of the model card on PPO; `counts` are the questions of each source."""
    of_training = {("train", each.name): f"{counts[each.name]:,}" for each in config.data}
    of_dev = {("dev", each.name): f"{counts[each.name]:,}" for each in config.dev}
    return ModelCard(
        front={
            "library_name": "peft",
            "pipeline_tag": "text-generation",
            "base_model": hub_id(published_name(source.base)),
            "tags": "[citewell, text-browser, ppo]",
        },
        about=_ABOUT.format(
            start=published_name(source.name),
            reward=config.reward.kind,
            answers=_ANSWERS if config.reward.answers else "",
            objective="\n".join([*objective_lines(config.ppo, result, "episode"), *model_lines(models)]),
        ),
        data=data_table(files, {"questions": of_training | of_dev}),
        metrics=_METRICS.format(
            table=metrics_table({"before": result.before, "after": result.after}),
            questions=sum(counts[each.name] for each in config.dev),
        ),
        counts={"questions": counts, "beta": config.ppo.beta, "kl": result.after["kl"]},
        packages=("torch", "transformers", "peft"),
    )
