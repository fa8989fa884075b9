"""Reading the demonstrations and the questions that a recipe names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from citewell.browser.episode import Episode, read_episodes
from citewell.browser.pairs import StateCommand, accepted, balanced, pairs
from citewell.browser.training.config import PolicyDataConfig, PolicyRecipe
from citewell.core.errors import InputError
from citewell.core.progress import Log
from citewell.core.questions import AnsweredQuestion, read_questions
from citewell.core.training.sources import DataFolders, question_key, sample

_DEV_PAIRS = 64  # per source: enough for a loss, and computed in seconds


@dataclass(frozen=True)
class PairSource:
    """The pairs of one source; each is seen `repeat` times an epoch."""

    name: str
    pairs: tuple[StateCommand, ...]
    repeat: int = 1


@dataclass(frozen=True)
class PolicyData:
    """The training data of a run, and the data of its dev loss. No question is in both."""

    train: tuple[PairSource, ...]
    dev: tuple[PairSource, ...]


def read_data(config: PolicyRecipe, folders: DataFolders, tell: Log) -> PolicyData:
    """Read all demonstrations of the recipe.

    Only episodes with enough reward, and those that people ended to answer, count, and of these only valid
    commands. Held-out questions, and those that the policy is asked during training, are removed from all
    training data. Raises `InputError` if a source has no data left.
    """
    hidden = {question_key(row.question) for row in asked(config, folders)}
    train, dev = [], []
    for source in config.data:
        episodes = [episode for file in folders.files(source) for episode in read_episodes(file)]
        good = list(accepted(episodes, source.least_reward))
        unjudged = sum(episode.reward is None for episode in good)
        tell(f"{source.name}: {len(good) - unjudged:,} of {len(episodes):,} episodes have enough reward")
        if unjudged:
            tell(f"{source.name}: {unjudged:,} more are of people, and nobody judged them")
        good = list(sample(good, source.limit, f"{config.training.seed} {source.name}"))
        held = _held_out(good, source, config.training.seed)
        hidden |= held
        if held:
            some = sample(_pairs(good, held, config), _DEV_PAIRS, f"{config.training.seed} dev pairs")
            dev.append(PairSource(source.name, some))
        train.append((source, good))
    return PolicyData(
        tuple(_trained_on(source, good, hidden, config, tell) for source, good in train), tuple(dev)
    )


def asked(config: PolicyRecipe, folders: DataFolders) -> tuple[AnsweredQuestion, ...]:
    """Return the questions that the policy is asked during training."""
    reward = config.reward
    return read_questions(folders.find(reward.questions), reward.episodes) if reward else ()


def _trained_on(
    source: PolicyDataConfig, good: list[Episode], hidden: set[str], config: PolicyRecipe, tell: Log
) -> PairSource:
    others = {question_key(episode.question) for episode in good} - hidden
    found = _pairs(good, others, config)
    kept = balanced(found, source.most, config.training.seed)
    if not kept:
        raise InputError(
            f"The source {source.name} has no training demonstration.",
            "Lower held_out or least_reward, or make more demonstrations.",
        )
    counts = Counter(pair.kind for pair in kept)
    tell(f"{source.name}: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common()))
    return PairSource(source.name, tuple(kept), source.repeat)


def _held_out(good: list[Episode], source: PolicyDataConfig, seed: int) -> set[str]:
    questions = sorted({question_key(episode.question) for episode in good})
    return set(sample(questions, source.held_out, f"{seed} dev {source.name}"))


def _pairs(good: list[Episode], questions: set[str], config: PolicyRecipe) -> list[StateCommand]:
    return [
        pair
        for episode in good
        if question_key(episode.question) in questions
        for pair in pairs(episode, config.browser.state_tokens)
    ]
