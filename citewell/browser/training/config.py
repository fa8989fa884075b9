"""The recipe of a policy's training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from citewell.browser.commands import Kind
from citewell.browser.limits import BrowserLimits
from citewell.core.recipe import load_recipe
from citewell.core.section import Section
from citewell.generator.training.config import GeneratorModelConfig, OptimisationConfig

HANDBOOK = "docs/browser-training.md"


class BrowserConfig(Section):
    """The browser that the demonstrations were made in; kept beside the weights, to browse in the same."""

    actions: int = Field(BrowserLimits().actions, ge=1, description="Most commands of an episode.")
    quote_chars: int = Field(
        BrowserLimits().quote_chars, ge=1, description="Most characters of all quotes together."
    )
    state_tokens: int = Field(640, ge=256, description="Most tokens of a state.")
    window_lines: int = Field(BrowserLimits().window_lines, ge=2, description="Most lines in view.")

    @property
    def limits(self) -> BrowserLimits:
        """The same as the browser takes it."""
        return BrowserLimits(**self.model_dump())


class PolicyDataConfig(Section):
    """Demonstrations."""

    name: str = Field(..., pattern=r"^[A-Za-z0-9][\w.-]*$", description="Name in logs and in the card.")
    files: tuple[str, ...] = Field(
        ..., min_length=1, description="Files of episodes, beside the recipe or in $CITEWELL_DATA."
    )
    licence: str = Field(..., min_length=1, description="Licence of the data, for the model card.")
    least_reward: float = Field(1.0, description="Episodes with less, or with none, are left out.")
    most: dict[Kind, int] = Field(
        default_factory=dict, description="Most commands of a kind to learn from, drawn by the seed."
    )
    repeat: int = Field(1, ge=1, description="Times a command is seen in an epoch.")
    held_out: int = Field(0, ge=0, description="Questions whose episodes are kept for measuring.")


class RewardConfig(Section):
    """The episodes that the policy browses while it is trained."""

    questions: str = Field(..., description='File of lines {"question", "answers"}.')
    episodes: int = Field(8, ge=1, description="Questions, the first ones of the file.")
    actions: int = Field(10, ge=1, description="Most commands of each of these episodes.")
    command_tokens: int = Field(48, ge=8, description="Most tokens of a command.")


class PolicyTrainingConfig(OptimisationConfig):
    """How long, how fast, in which order, and what the best checkpoint is."""

    choose_by: Literal["score", "command_loss"] = Field(
        "score",
        description="What the best checkpoint has the best of; `score` is the reward, less a hundredth of "
        "`command_loss`, which so decides between equal rewards.",
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
        names = [source.name for source in self.data]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name")
        if not self.measured and (self.reward or self.training.patience):
            raise ValueError(
                "reward and patience need demonstrations to measure on: add held_out to a source"
            )
        if self.measured and self.training.choose_by == "score" and self.reward is None:
            raise ValueError('choose_by = "score" needs a section [reward]')
        return self

    @property
    def measured(self) -> bool:
        """Whether demonstrations are held out."""
        return any(source.held_out for source in self.data)


def load_config(file: Path) -> PolicyRecipe:
    """Read a recipe; raises `InputError` for what is missing, unknown or wrong in it."""
    return load_recipe(PolicyRecipe, file, HANDBOOK)
