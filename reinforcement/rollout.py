"""Episodes: what the policy wrote, and what training needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from citewell.core.types import Reference
from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.returns import normalized

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
    `allowed`, (T, bytes), has a bit for each token of the vocabulary that a grammar allowed, if there was
    one.
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
    allowed: torch.Tensor | None = None

    @property
    def kl(self) -> float:
        """The log-ratio of the whole answer, whose mean over answers estimates the KL divergence, in nats."""
        return float((self.logp - self.logp_reference).sum())

    @property
    def row(self) -> TokenizedExample:
        """The tokens, for collation."""
        return TokenizedExample(self.asked.prompt, self.completion)


class RatedEpisode(NamedTuple):
    """An episode with the advantage and the return of each token, (T,) each."""

    rollout: Rollout
    advantages: torch.Tensor
    returns: torch.Tensor


def with_normalized(episodes: Sequence[RatedEpisode]) -> list[RatedEpisode]:
    """Return episodes whose advantages are normalized over all of their tokens (WebGPT, Table 7)."""
    import torch

    whole = normalized(torch.cat([each.advantages for each in episodes]))
    pieces = torch.split(whole, [len(each.advantages) for each in episodes])
    return [each._replace(advantages=piece) for each, piece in zip(episodes, pieces, strict=True)]


class Gathered(NamedTuple):
    """What an iteration learns from: rated episodes, the means of their measures, and the tokens read."""

    episodes: list[RatedEpisode]
    measures: dict[str, float]
    tokens: int


class Experience(Protocol):
    """An environment in which the policy, with its current weights, gathers episodes."""

    def gather(self, iteration: int, seed: int) -> Gathered:
        """Return the episodes of an iteration, drawn by the seed; `score` and `kl` are among the measures."""
        ...

    def measure(self, seed: int) -> dict[str, float]:
        """Return the measures of dev episodes."""
        ...
