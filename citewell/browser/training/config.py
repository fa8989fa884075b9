"""The recipe of a policy's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.browser.limits import BrowserLimits
from citewell.browser.pairs import Learned
from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.core.training.config import DataConfig, check_names
from citewell.generator.training.config import CausalTrainingConfig, GeneratorModelConfig


class BrowserConfig(Section):
    """The browser of the demonstrations; saved beside the weights, so that the policy uses the same."""

    actions: int = Field(BrowserLimits().actions, ge=1, description="Max commands per episode.")
    quote_chars: int = Field(
        BrowserLimits().quote_chars, ge=1, description="Max characters of all quotes together."
    )
    state_tokens: int = Field(640, ge=256, description="Max tokens per state.")
    window_lines: int = Field(BrowserLimits().window_lines, ge=2, description="Max visible lines.")

    @property
    def limits(self) -> BrowserLimits:
        """The same limits as the browser's type."""
        return BrowserLimits(**self.model_dump())


class PolicyDataConfig(DataConfig):
    """Demonstrations."""

    least_reward: float = Field(
        1.0, description="Min reward; an episode without one counts if a person answers in it."
    )
    most: dict[Learned, int] = Field(
        default_factory=dict, description="Max commands per kind, and max `answer`s, sampled with the seed."
    )
    held_out: int = Field(0, ge=0, description="Questions to hold out for the dev metrics.")


class RewardConfig(Section):
    """The episodes that the policy browses during training."""

    questions: str = Field(..., description='File of lines {"question", "answers"}.')
    episodes: int = Field(8, ge=1, description="Questions, from the start of the file.")
    actions: int = Field(10, ge=1, description="Max commands per episode.")
    command_tokens: int = Field(48, ge=8, description="Max tokens per command.")


class PolicyTrainingConfig(CausalTrainingConfig):
    """Duration, learning rate, order, and selection of the best checkpoint."""

    choose_by: Literal["score", "command_loss"] = Field(
        "score",
        description="Metric that selects the best checkpoint; `score` is the reward, then `command_loss`.",
    )


class PolicyRecipe(Section):
    """A training run."""

    model: GeneratorModelConfig = GeneratorModelConfig()
    browser: BrowserConfig = BrowserConfig()
    data: tuple[PolicyDataConfig, ...] = Field(..., min_length=1)
    reward: RewardConfig | None = None
    training: PolicyTrainingConfig = PolicyTrainingConfig()

    @model_validator(mode="after")
    def _fits(self) -> PolicyRecipe:
        check_names(self.data)
        if not self.measured and (self.reward or self.training.patience):
            raise ValueError("reward and patience need dev demonstrations: add held_out to a source")
        if self.measured and self.training.choose_by == "score" and self.reward is None:
            raise ValueError('choose_by = "score" needs a section [reward]')
        return self

    @property
    def measured(self) -> bool:
        """True if demonstrations are held out."""
        return any(source.held_out for source in self.data)


def load_config(file: Path) -> PolicyRecipe:
    """Read a recipe; raises `InputError` for missing, unknown or invalid values."""
    return load_recipe(PolicyRecipe, file, "docs/recipes.md")
