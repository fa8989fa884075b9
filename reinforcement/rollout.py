"""An episode: a question, the answer that the policy wrote, and what training needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.types import Reference
from citewell.generator.training.encode import TokenizedExample

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class PromptedQuestion:
    """A question with its references as the policy reads them, and the tokens of this prompt.

    `answer` is the demonstration, if there is one.
    """

    question: str
    references: tuple[Reference, ...]
    prompt: tuple[int, ...]
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """An answer of `T` tokens to a question, and its reward.

    `logp`, `logp_reference` and `values` have shape (T,): the log-probabilities of the tokens under the
    policy and under the one that training started from, and the value before each token. `states`, (T, size),
    are what a value head reads, if it has no network of its own. `parts` are measures of the answer by name.
    """

    asked: PromptedQuestion
    completion: tuple[int, ...]
    text: str
    score: float
    parts: Mapping[str, float]
    logp: torch.Tensor
    logp_reference: torch.Tensor
    values: torch.Tensor
    states: torch.Tensor | None = None

    @property
    def kl(self) -> float:
        """The log-ratio of the whole answer, whose mean over answers estimates the KL divergence, in nats."""
        return float((self.logp - self.logp_reference).sum())

    @property
    def row(self) -> TokenizedExample:
        """The tokens, for collation."""
        return TokenizedExample(self.asked.prompt, self.completion)
