"""The model card of answers that were trained by reinforcement, and the files of the models before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citewell.core.file_sums import file_sha256
from citewell.core.redact import published_name
from citewell.core.training.card import DataFile, ModelCard, data_table, held_out, metrics_table
from citewell.core.training.run import RunResult
from citewell.core.weights import hub_id, locate
from citewell.generator.resolve import ModelSource
from citewell.generator.training.sources import GeneratorData
from citewell.reinforcement.config import AnswersRecipe, PpoConfig
from citewell.scorer.load import PreferenceScorer, scorer_folder

_START, _REWARD = "start", "reward model"

_ABOUT = """\
A language model that answers a question from numbered references, and cites them as `[1][3]`. It was trained
with Citewell from {start} by {algorithm}: it raises {reward},
with a penalty of the KL divergence from the start.

## How to use it

`citewell ask QUESTION --generator FOLDER` prompts it as its start is prompted.

## The objective

{objective}"""

_METRICS = """\
{table}

One answer to each of {questions:,} dev questions, drawn at temperature 1 from the averaged weights. `score`
is the reward less that of the dev demonstrations, `kl` the KL divergence from the start in nats per answer,
`ended` the share of answers that end within {tokens} tokens. What was trained against is not a judgment:
compare generators with `citewell eval generation`."""


def model_files(source: ModelSource, scorer: PreferenceScorer | None) -> list[DataFile]:
    """Return the weights that the policy starts from, and those of the reward model, with their SHA-256."""
    start = source.adapter or locate(source.base).path
    found = [(_START, source.name, file) for file in _weights(start)]
    if scorer is not None:
        found += [(_REWARD, scorer.name, file) for file in _weights(scorer_folder(scorer.name))]
    return [
        DataFile(published_name(name), file.name, file_sha256(file), "", use) for use, name, file in found
    ]


def describe(
    config: AnswersRecipe,
    source: ModelSource,
    data: GeneratorData,
    files: Sequence[DataFile],
    result: RunResult,
    bias: float,
) -> ModelCard:
    """Return the part of the model card on reinforcement; `bias` is the mean reward of the demonstrations."""
    rows = {each.name: len(each.examples) for each in data.train}
    dev_rows = {each.name: len(each.examples) for each in data.dev}
    counts = {("train", name): f"{count:,}" for name, count in rows.items()}
    counts |= {("dev", name): f"{count:,}" for name, count in dev_rows.items()}
    models = [file for file in files if file.use in (_START, _REWARD)]
    data_files = [file for file in files if file not in models]
    counts |= {(file.use, file.source): "" for file in data_files if file.use == "ptx"}
    start = published_name(source.name)
    weight = config.ptx.weight if config.ptx is not None else 0.0
    return ModelCard(
        front={
            "library_name": "peft",
            "pipeline_tag": "text-generation",
            "base_model": hub_id(published_name(source.base)),
            "tags": f"[citewell, cited-answers, {config.algorithm}]",
        },
        about=_ABOUT.format(
            start=start,
            algorithm="PPO-ptx" if weight else config.algorithm.upper(),
            reward=_reward(config),
            objective=_objective(config, result, models, bias, weight),
        ),
        data=data_table(data_files, {"rows": counts}) + held_out(rows, dev_rows, "rows"),
        metrics=_METRICS.format(
            table=metrics_table({"before": result.before, "after": result.after}),
            questions=sum(dev_rows.values()),
            tokens=config.prompt.answer_tokens,
        ),
        counts={
            "rows": rows,
            "dev_rows": dev_rows,
            "start": start,
            "beta": config.ppo.beta,
            "ptx_weight": weight,
            "reward_bias": bias,
            "kl": result.after["kl"],
        },
        packages=("torch", "transformers", "peft", "trl"),
    )


def _reward(config: AnswersRecipe) -> str:
    name = published_name(config.reward.scorer)
    return {
        "support": "the support of its sentences by the references",
        "score": f"the score of {name}",
        "value": f"the score of {name}, less a margin for unsupported sentences,",
    }[config.reward.kind]


def _objective(
    config: AnswersRecipe, result: RunResult, models: Sequence[DataFile], bias: float, weight: float
) -> str:
    lines = [
        *objective_lines(config.ppo, result, "answer"),
        f"- γ, the coefficient of the loss of texts (PPO-ptx): {weight:g}",
        f"- Mean reward of the demonstrations, which is subtracted: {bias:.4f}",
        *model_lines(models),
    ]
    return "\n".join(lines)


def objective_lines(ppo: PpoConfig, result: RunResult, what: str) -> list[str]:
    """Return the card's lines on the penalty and the duration; `what` is an answer or an episode."""
    budget = "none" if ppo.kl_budget is None else f"{ppo.kl_budget:g} nats"
    return [
        f"- β, the coefficient of the KL penalty: {ppo.beta:g}",
        f"- KL divergence from the start: {result.after['kl']:.2f} nats per {what}; budget: {budget}",
        f"- Iterations: {result.best_step:,} of {ppo.iterations:,}, of {ppo.batch:,} {what}s each",
    ]


def model_lines(models: Sequence[DataFile]) -> list[str]:
    """Return the card's lines on the files of models."""
    return [f"- {file.use}: {file.source}, `{file.name}`, SHA-256 {file.sha256}" for file in models]


def _weights(place: Path | None) -> list[Path]:
    if place is None:
        return []
    return [place] if place.is_file() else sorted(place.rglob("*.safetensors"))
