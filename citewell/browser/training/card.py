"""The model card of a trained policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citewell.browser.training.config import PolicyRecipe
from citewell.browser.training.sources import PolicyData
from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import RunResult
from citewell.core.weights import hub_id

_ABOUT = """\
A policy for Citewell's text browser: given a state of the browser as text, it writes the next command. It was
cloned with Citewell from demonstrations, starting from {base}.

## How to use it

`citewell browse QUESTION --policy FOLDER` browses with it, in a browser with the limits of `policy.json`. The
user's message is the state, and the model's message the command.{answers}"""

_ANSWERS = """ With `--set browser.answerer=policy` it also
answers: the user's message is then the question with the numbered quotes."""

_METRICS = """\
{table}

`command_loss` is the cross-entropy per token of the commands of held-out demonstrations. `reward` is the
share of episodes, browsed by the policy during training, in which a quote has the answer, and `valid` the
share of valid commands in them; both without a grammar. `{selected_by}` selected the best checkpoint."""


def describe(
    config: PolicyRecipe, data: PolicyData, files: Sequence[DataFile], result: RunResult
) -> ModelCard:
    """Return the policy's part of its model card."""
    pairs = {source.name: len(source.pairs) for source in data.train}
    dev_pairs = {source.name: len(source.pairs) for source in data.dev}
    kinds = Counter(pair.kind for source in data.train for pair in source.pairs)
    base = published_name(config.model.base)
    commands = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    table = metrics_table({"before": result.before, "after": result.after})
    return ModelCard(
        front={
            "library_name": "peft",
            "pipeline_tag": "text-generation",
            "base_model": hub_id(base),
            "tags": "[citewell, text-browser]",
        },
        about=_ABOUT.format(base=base, answers=_ANSWERS if kinds["answer"] else ""),
        data=data_table(files, {"commands": {("train", name): f"{n:,}" for name, n in pairs.items()}})
        + held_out(pairs, dev_pairs, "questions")
        + f"\n\nCommands: {commands}. The loss is that of their tokens only.",
        metrics=table and _METRICS.format(table=table, selected_by=config.training.choose_by),
        counts={"pairs": pairs, "dev_pairs": dev_pairs, "kinds": dict(kinds)},
        packages=("torch", "transformers", "trl", "peft"),
    )
