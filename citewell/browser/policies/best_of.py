"""The best of several episodes for one question (WebGPT §3.2, rejection sampling)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from citewell.browser.episode import Episode
from citewell.browser.policy import Policy
from citewell.core.errors import InputError
from citewell.core.relevance import Relevance
from citewell.core.text import encoded_text
from citewell.core.types import Reference, Sentence
from citewell.scorer.scorer import Scorer

Rate = Callable[[Episode], float]
"""Rates an episode; the greatest number wins."""


class EpisodeJudge(NamedTuple):
    """A judge of episodes whose answers are not written; `name` is its name in reports."""

    name: str
    rate: Rate


@runtime_checkable
class Sampled(Protocol):
    """A policy that can sample its commands."""

    def sampled(self, seed: int) -> Policy:
        """Return the same policy, sampling with this seed."""
        ...


def variants(policy: Policy, n: int) -> list[Policy]:
    """Return `n` policies for `n` episodes of one question; a single one is the policy itself.

    Raises `InputError` for several episodes of a policy that does not sample its commands.
    """
    if n == 1:
        return [policy]
    if not isinstance(policy, Sampled):
        raise InputError(
            f"The policy {policy.name} cannot browse {n} times for a question: only language models sample "
            "their commands.",
            "Choose the best of 1, or a language model as the policy.",
        )
    return [policy.sampled(seed) for seed in range(n)]


def best(episodes: Sequence[Episode], rate: Rate) -> Episode:
    """Return the episode, of at least one, with the highest rating; of equal ones, the first."""
    return max(episodes, key=rate)


def by_quotes(relevance: Relevance) -> EpisodeJudge:
    """Return a judge that rates an episode by its most relevant quote."""

    def rate(episode: Episode) -> float:
        texts = [encoded_text(quote.title, quote.text) for quote in episode.quotes]
        return max(map(float, relevance(episode.question, texts)), default=-1.0)

    return EpisodeJudge("relevance", rate)


def by_scorer(scorer: Scorer) -> EpisodeJudge:
    """Return a judge that rates the quotes of an episode like an answer that cites each of them.

    An episode without quotes gets the lowest rating. The judge raises the errors of the scorer.
    """

    def rate(episode: Episode) -> float:
        if not episode.quotes:
            return -math.inf
        quotes = list(enumerate(episode.quotes, 1))
        sentences = [Sentence(quote.text, (number,), 1.0, supported=True) for number, quote in quotes]
        references = [Reference(number, quote.url, quote.title, quote.text, 0.0) for number, quote in quotes]
        return scorer.score(episode.question, [sentences], references)[0]

    return EpisodeJudge(scorer.name, rate)
