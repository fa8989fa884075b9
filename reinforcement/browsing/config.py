"""The recipe of training a policy by PPO in the text browser; the defaults are WebGPT's (§3.2, Table 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import SourceConfig, check_names
from citewell.reinforcement.config import PpoConfig, PpoSections, StartConfig
from citewell.scorer.load import DEFAULT


class BrowsingStartConfig(StartConfig):
    """The policy before training, with the limits of its browser."""

    start: str = Field(
        "citewell-browser", min_length=1, description="Trained policy: shipped name or folder."
    )


class BrowsingSourceConfig(SourceConfig):
    """Questions to browse for: lines of {"question", "answers"}, the answers for the reward `found` only."""

    share: float = Field(1.0, gt=0, description="Weight of the source in the draw of questions.")


class DevBrowsingConfig(SourceConfig):
    """Questions to browse for in evaluations."""

    limit: int | None = Field(16, ge=1, description="Max questions, sampled with the seed.")


class EpisodesConfig(Section):
    """How an episode goes."""

    fewest_actions: int = Field(20, ge=1, description="Smallest max number of commands that is drawn.")
    most_actions: int = Field(100, ge=1, description="Greatest max number of commands that is drawn.")
    constrained: bool = Field(
        False, description="Draw valid commands only; otherwise an invalid one costs an action."
    )
    command_tokens: int = Field(96, ge=8, description="Max tokens per command.")
    chunk_tokens: int = Field(
        64, ge=1, description="Tokens of a completion that count as one action for PPO."
    )
    answer_phases: int = Field(
        16, ge=1, description="Answers to the quotes of an episode, of which the first belongs to it."
    )
    answer_tokens: int = Field(200, ge=4, description="Max tokens per answer.")


class BrowsingRewardConfig(Section):
    """What an episode is worth; given at its end."""

    kind: Literal["score", "support", "found", "relevance"] = Field(
        "score",
        description="`score` or citation `support` of the answer; without answers, whether a quote has an "
        "accepted one (`found`), or the greatest `relevance` of a quote.",
    )
    scorer: str = Field(DEFAULT, min_length=1, description="Reward model: shipped name or folder.")
    missing: float = Field(-1.0, description="Reward without a quote, or with an answer that does not end.")

    @property
    def answers(self) -> bool:
        """True if answers are rewarded."""
        return self.kind in ("score", "support")


class BrowsingPpoConfig(PpoConfig):
    """PPO, a completion a step (WebGPT, Table 7 and Table 8)."""

    episodes: int = Field(25_600, ge=1, description="Browsing episodes in all.")
    batch: int = Field(256, ge=1, description="Browsing episodes per iteration, which run at the same time.")
    minibatch: int = Field(512, ge=1, description="Completions per step of the optimizer.")
    kl_budget: float | None = Field(
        10.5, gt=0, description="KL divergence per episode, in nats, beyond which training stops."
    )


class BrowsingRecipe(PpoSections):
    """A training run."""

    model: BrowsingStartConfig = BrowsingStartConfig()
    data: tuple[BrowsingSourceConfig, ...] = Field(..., min_length=1)
    dev: tuple[DevBrowsingConfig, ...] = Field(..., min_length=1)
    episodes: EpisodesConfig = EpisodesConfig()
    reward: BrowsingRewardConfig = BrowsingRewardConfig()
    ppo: BrowsingPpoConfig = BrowsingPpoConfig()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_names([*self.data, *self.dev])
        if self.episodes.fewest_actions > self.episodes.most_actions:
            raise ValueError("episodes.fewest_actions is greater than episodes.most_actions")
        if self.ppo.episodes < self.ppo.batch:
            raise ValueError("ppo.episodes is less than ppo.batch")
        return self


def load_config(file: Path) -> BrowsingRecipe:
    """Read a recipe; raises `InputError` for missing, unknown or invalid values."""
    return load_recipe(BrowsingRecipe, file, "docs/recipes.md")
