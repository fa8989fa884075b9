"""What an episode of the text browser is worth: a function of the episode, as `BrowserEnv` has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from citewell.browser.episode import Episode
from citewell.browser.evaluation.success import succeeds
from citewell.browser.policies.best_of import by_quotes
from citewell.core.relevance import Relevance
from citewell.core.types import Reference
from citewell.reinforcement.reward import Reward

RateEpisode = Callable[[Episode], float]


def by_answer(reward: Reward, missing: float) -> RateEpisode:
    """Return the reward of an episode's answer with its quotes as references, or `missing` without one."""

    def rate(episode: Episode) -> float:
        if not episode.answer or not episode.can_be_answered:
            return missing
        rated = reward(episode.question, references_of(episode), episode.answer)
        return missing if rated.is_empty else rated.score

    return rate


def by_found(answers: Mapping[str, Sequence[str]]) -> RateEpisode:
    """Return 1 for an episode in which a quote has an accepted answer to the question, and 0 for others."""
    return lambda episode: float(succeeds(episode, answers[episode.question]))


def by_relevance(relevance: Relevance, missing: float) -> RateEpisode:
    """Return the relevance of the most relevant quote, or `missing` without one."""
    judge = by_quotes(relevance)
    return lambda episode: judge.rate(episode) if episode.quotes else missing


def references_of(episode: Episode) -> tuple[Reference, ...]:
    """Return the quotes, numbered from 1, as the references of the answer."""
    return tuple(
        Reference(number, quote.url, quote.title, quote.text, 0.0)
        for number, quote in enumerate(episode.quotes, 1)
    )
