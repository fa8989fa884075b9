"""The best of several episodes for one question (WebGPT §3.2, rejection sampling)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from browser.episode import Episode
from browser.policy import Policy
from core.errors import InputError
from generator.extractive import Relevance

Rate = Callable[[Episode], float]
"""How good an episode is; the greatest number wins."""


@runtime_checkable
class Sampled(Protocol):
    """A policy whose commands can be drawn by chance."""

    def sampled(self, seed: int) -> Policy:
        """The same policy, drawing with this seed."""
        ...


def variants(policy: Policy, n: int) -> list[Policy]:
    """`n` policies for as many episodes of one question; a single one is the policy itself.

    Raises `InputError` for several episodes of a policy that always does the same.
    """
    if n == 1:
        return [policy]
    if not isinstance(policy, Sampled):
        raise InputError(
            f"The policy {policy.name} browses the same way each time, so that there is no best of {n}.",
            "Choose the best of 1, or another policy.",
        )
    return [policy.sampled(seed) for seed in range(n)]


def best(episodes: Sequence[Episode], rate: Rate) -> Episode:
    """The episode, of at least one, that is rated highest; of equal ones, the first."""
    return max(episodes, key=rate)


def by_quotes(relevance: Relevance) -> Rate:
    """Rates an episode by its most relevant quote, where no answers are written to compare."""

    def rate(episode: Episode) -> float:
        texts = [f"{quote.title}. {quote.text}" for quote in episode.quotes]
        return max(map(float, relevance(episode.question, texts)), default=-1.0)

    return rate
