"""The best of several episodes for one question (WebGPT §3.2, rejection sampling)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from citewell.browser.episode import Episode
from citewell.browser.policy import Policy
from citewell.core.errors import InputError
from citewell.core.text import encoded_text
from citewell.core.types import Reference, Sentence
from citewell.generator.extractive import Relevance
from citewell.scorer.scorer import Scorer

Rate = Callable[[Episode], float]
"""How good an episode is; the greatest number wins."""


class EpisodeJudge(NamedTuple):
    """What chooses among episodes whose answers are not written; `name` is what reports say of it."""

    name: str
    rate: Rate


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


def by_quotes(relevance: Relevance) -> EpisodeJudge:
    """Rates an episode by its most relevant quote."""

    def rate(episode: Episode) -> float:
        texts = [encoded_text(quote.title, quote.text) for quote in episode.quotes]
        return max(map(float, relevance(episode.question, texts)), default=-1.0)

    return EpisodeJudge("relevance", rate)


def by_scorer(scorer: Scorer) -> EpisodeJudge:
    """Rates an episode by its quotes, as if they were an answer that cites each of them.

    An episode without quotes is rated lowest. Raises what the scorer raises.
    """

    def rate(episode: Episode) -> float:
        if not episode.quotes:
            return -math.inf
        quotes = list(enumerate(episode.quotes, 1))
        sentences = [Sentence(quote.text, (number,), 1.0, supported=True) for number, quote in quotes]
        references = [Reference(number, quote.url, quote.title, quote.text, 0.0) for number, quote in quotes]
        return scorer.score(episode.question, [sentences], references)[0]

    return EpisodeJudge(scorer.name, rate)
