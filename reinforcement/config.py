"""The recipe of training answers by PPO; the defaults are InstructGPT's (appendix C.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import (
    AdapterConfig,
    CommonTrainingConfig,
    EvalEvery,
    PartsConfig,
    SourceConfig,
)
from citewell.generator.training.config import ArrangementConfig, ExampleRecipe
from citewell.scorer.choice import MARGIN
from citewell.scorer.load import DEFAULT


class StartConfig(Section):
    """The policy before training, which is also the reference of the KL penalty."""

    start: str = Field(
        "citewell-smollm2", min_length=1, description="Fine-tuned generator: shipped name, folder or hub id."
    )
    lora: AdapterConfig = AdapterConfig()


class AnswersPromptConfig(ArrangementConfig):
    """The questions as the policy reads them; the form of the prompt is the start's own."""

    answer_tokens: int = Field(200, ge=4, description="Max tokens per answer; longer ones are unfinished.")


class AnswersRewardConfig(Section):
    """What a finished answer is worth."""

    kind: Literal["score", "value", "support"] = Field(
        "score",
        description="`score` of a reward model, `value` as best of n has it, or citation `support` alone.",
    )
    scorer: str = Field(DEFAULT, min_length=1, description="Reward model: shipped name or folder.")
    margin: float = Field(MARGIN, ge=0, description="With `value`: the cost of unsupported sentences.")
    judge: str | None = Field(
        None,
        min_length=1,
        description="Second scorer, which rates all answers and trains nothing: it shows over-optimization.",
    )


class PpoConfig(Section):
    """PPO with a penalty of the KL divergence per token."""

    episodes: int = Field(256_000, ge=1, description="Answers to write in all.")
    batch: int = Field(512, ge=2, description="Answers per iteration.")
    minibatch: int = Field(64, ge=1, description="Answers per step of the optimizer.")
    inner_epochs: int = Field(1, ge=1, description="Passes over the answers of an iteration.")
    learning_rate: float = Field(8e-6, gt=0, description="Learning rate of the policy after the warmup.")
    warmup: int = Field(10, ge=0, description="Iterations in which the rate rises from a tenth.")
    beta: float = Field(0.02, ge=0, description="Coefficient of the KL penalty.")
    clip: float = Field(0.2, gt=0, lt=1, description="Change of a token's probability that is clipped.")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="Decay of the advantage estimates.")
    kl_budget: float | None = Field(
        None, gt=0, description="KL divergence per answer, in nats, beyond which training stops."
    )

    @property
    def iterations(self) -> int:
        """The number of batches."""
        return self.episodes // self.batch

    def rate(self, iteration: int) -> float:
        """Return the policy's learning rate in an iteration, counted from 0."""
        risen = min(1.0, iteration / self.warmup) if self.warmup else 1.0
        return self.learning_rate * (0.1 + 0.9 * risen)


class ValueConfig(Section):
    """The value function."""

    network: Literal["adapter", "head"] = Field(
        "adapter", description="An adapter of its own, or only a head on the states of the start."
    )
    learning_rate: float = Field(9e-6, gt=0, description="Learning rate of the value function.")
    epochs: int = Field(1, ge=1, description="Passes of the value function over an iteration's answers.")
    warmup: int = Field(5, ge=0, description="First iterations, in which only the value function learns.")


class PtxConfig(SourceConfig):
    """Texts whose likelihood is kept up: PPO-ptx."""

    weight: float = Field(27.8, ge=0, description="Coefficient of the texts' loss; 0 is plain PPO.")
    ratio: float = Field(8.0, gt=0, description="Rows of text per answer.")
    tokens: int = Field(512, ge=8, description="Tokens per row.")


class GroupConfig(Section):
    """Groups of answers to the same question, which GRPO and RLOO compare; TRL trains them."""

    answers: int = Field(8, ge=2, description="Answers per question; their mean is the baseline.")
    vllm: Literal["colocate", "server"] | None = Field(
        None, description="Write with vLLM, in this process or at `vllm_url`; by default with transformers."
    )
    vllm_url: str = Field("http://localhost:8000", description="Address of `trl vllm-serve`.")


class AnswersTrainingConfig(PartsConfig, CommonTrainingConfig):
    """The run."""

    ema: float | None = Field(
        0.992,
        gt=0,
        lt=1,
        description="Decay of an exponential moving average of the weights, which is saved.",
    )
    eval_every: EvalEvery = 10


class PpoSections(Section):
    """What recipes of PPO have in common."""

    model: StartConfig = StartConfig()
    ppo: PpoConfig = PpoConfig()
    value: ValueConfig = ValueConfig()
    training: AnswersTrainingConfig = AnswersTrainingConfig()


class AnswersRecipe(ExampleRecipe, PpoSections):
    """A training run."""

    algorithm: Literal["ppo", "grpo", "rloo"] = Field(
        "ppo", description="PPO, or an algorithm without a value function that TRL trains by the same reward."
    )
    prompt: AnswersPromptConfig = AnswersPromptConfig()
    reward: AnswersRewardConfig = AnswersRewardConfig()
    group: GroupConfig = GroupConfig()
    ptx: PtxConfig | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.measured:
            raise ValueError("dev answers are needed, whose mean reward is 0: add [[dev]], or held_out")
        if self.ppo.minibatch > self.ppo.batch:
            raise ValueError("ppo.minibatch is greater than ppo.batch")
        if self.ppo.episodes < self.ppo.batch:
            raise ValueError("ppo.episodes is less than ppo.batch")
        if self.algorithm != "ppo":
            self._check_groups()
        return self

    def _check_groups(self) -> None:
        given = {
            "ppo.kl_budget": self.ppo.kl_budget is not None,
            "ptx.weight": self.ptx is not None and self.ptx.weight > 0,
            "training.patience": self.training.patience is not None,
        }
        if refused := [name for name, is_given in given.items() if is_given]:
            raise ValueError(f'{refused[0]} needs algorithm = "ppo"')
        if self.ppo.batch % self.ppo.minibatch or self.ppo.minibatch % self.group.answers:
            raise ValueError("ppo.batch must be a multiple of ppo.minibatch, and that of group.answers")


def load_config(file: Path) -> AnswersRecipe:
    """Read a recipe; raises `InputError` for missing, unknown or invalid values."""
    return load_recipe(AnswersRecipe, file, "docs/recipes.md")
