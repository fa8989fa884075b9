"""The recipe of a policy that learns from feedback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from citewell.core.errors import InputError
from citewell.generator.training.config import GeneratorDataConfig
from citewell.reinforcement.config import (
    AnswersRecipe,
    AnswersRewardConfig,
    AnswersTrainingConfig,
    PpoConfig,
    StartConfig,
    ValueConfig,
)
from citewell.reinforcement.feedback.judgments import FeedbackCounts

_HELD_OUT = 48  # questions for the dev metrics, and a fifth at most
_LICENSE = "feedback of users"

# For two cores, as recipes/answers-ppo.toml.
_PPO = PpoConfig(episodes=352, batch=16, minibatch=8, learning_rate=3e-4, warmup=2, beta=0.02, kl_budget=6.0)
_VALUE = ValueConfig(network="head", learning_rate=1e-3, epochs=4, warmup=0)
_TRAINING = AnswersTrainingConfig(ema=0.9, eval_every=11, part_tokens=2048, precision="bfloat16")


@dataclass(frozen=True, kw_only=True)
class FeedbackRun:
    """What to learn from feedback with: the policy's start, the scorer to train further, and a recipe.

    Without a `start`, it is the recipe's, or the shipped one. The data of the recipe are used besides the
    feedback. With `force`, little feedback and worse models are accepted.
    """

    scorer: str
    threads: int
    start: str | None = None
    recipe: AnswersRecipe | None = None
    force: bool = False


def feedback_recipe(
    options: FeedbackRun, questions: Path, reward: Path, counts: FeedbackCounts
) -> AnswersRecipe:
    """Return the recipe of the policy: the one that was given, or the defaults, with the feedback."""
    given = options.recipe
    if given is not None and given.reward.kind == "support":
        raise InputError(
            'The recipe rewards citation support, and would not use the feedback: reward.kind is "support".',
            'Set it to "value" or "score".',
        )
    asked = GeneratorDataConfig(
        name="feedback",
        files=(str(questions.resolve()),),
        license=_LICENSE,
        held_out=0 if given is not None and given.dev else max(1, min(_HELD_OUT, counts.questions // 5)),
    )
    kept = AnswersRewardConfig(kind="value") if given is None else given.reward
    rewarded = kept.model_copy(update={"scorer": str(reward.resolve())})
    model = StartConfig() if given is None else given.model
    model = model.model_copy(update={"start": options.start or model.start})
    if given is not None:
        return given.model_copy(update={"model": model, "data": (*given.data, asked), "reward": rewarded})
    return AnswersRecipe(
        model=model,
        data=(asked,),
        reward=rewarded,
        ppo=_PPO,
        value=_VALUE,
        training=_TRAINING.model_copy(update={"threads": options.threads}),
    )
