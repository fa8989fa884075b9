"""Reading the demonstrations and the questions that a recipe names."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from citewell.browser.episode import Episode, read_episodes
from citewell.browser.evaluation.questions import BrowsingQuestion, read_questions
from citewell.browser.pairs import StateCommand, balanced, pairs, rewarded
from citewell.browser.training.config import PolicyDataConfig, PolicyRecipe
from citewell.core.errors import InputError
from citewell.core.progress import Tell
from citewell.core.recipe import find
from citewell.core.text import squeeze

_DEV_PAIRS = 64  # of each source: enough for a loss, and measured in seconds


@dataclass(frozen=True)
class PairSource:
    """The pairs of one source; each is seen `repeat` times an epoch."""

    name: str
    pairs: tuple[StateCommand, ...]
    repeat: int = 1


@dataclass(frozen=True)
class PolicyData:
    """What a run learns from, and what its loss is measured on. No question is in both."""

    train: tuple[PairSource, ...]
    dev: tuple[PairSource, ...]


def read_data(config: PolicyRecipe, recipe: Path, tell: Tell) -> PolicyData:
    """Read all demonstrations of the recipe in the file `recipe`.

    Only episodes with reward enough count, and of these only valid commands. A question that is held out, or
    that the policy is asked while it is trained, is in no training data. Raises `InputError` where nothing is
    left of a source.
    """
    hidden = {_key(row.question) for row in asked(config, recipe)}
    train, dev = [], []
    for source in config.data:
        episodes = [episode for file in source_files(source, recipe) for episode in read_episodes(file)]
        good = list(rewarded(episodes, source.least_reward))
        tell(f"{source.name}: {len(good):,} of {len(episodes):,} episodes have reward enough")
        held = _held_out(good, source, config.training.seed)
        hidden |= held
        if held:
            dev.append(PairSource(source.name, _sampled(_pairs(good, held), config.training.seed)))
        train.append((source, good))
    return PolicyData(
        tuple(_learnt(source, good, hidden, config, tell) for source, good in train), tuple(dev)
    )


def asked(config: PolicyRecipe, recipe: Path) -> tuple[BrowsingQuestion, ...]:
    """The questions that the policy is asked while it is trained."""
    reward = config.reward
    return read_questions(find(reward.questions, recipe), reward.episodes) if reward else ()


def source_files(source: PolicyDataConfig, recipe: Path) -> list[Path]:
    """The files that a source is read from."""
    return [find(name, recipe) for name in source.files]


def _learnt(
    source: PolicyDataConfig, good: list[Episode], hidden: set[str], config: PolicyRecipe, tell: Tell
) -> PairSource:
    found = [pair for episode in good if _key(episode.question) not in hidden for pair in pairs(episode)]
    kept = balanced(found, source.most, config.training.seed)
    if not kept:
        raise InputError(
            f"The source {source.name} has no demonstration to learn from.",
            "Lower held_out or least_reward, or make more demonstrations.",
        )
    counts = Counter(pair.kind for pair in kept)
    tell(f"{source.name}: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common()))
    return PairSource(source.name, tuple(kept), source.repeat)


def _held_out(good: list[Episode], source: PolicyDataConfig, seed: int) -> set[str]:
    questions = sorted({_key(episode.question) for episode in good})
    chance = random.Random(f"{seed} dev {source.name}")  # noqa: S311
    return set(chance.sample(questions, min(source.held_out, len(questions))))


def _pairs(good: list[Episode], held: set[str]) -> list[StateCommand]:
    return [pair for episode in good if _key(episode.question) in held for pair in pairs(episode)]


def _sampled(found: list[StateCommand], seed: int) -> tuple[StateCommand, ...]:
    chance = random.Random(f"{seed} dev pairs")  # noqa: S311
    return tuple(chance.sample(found, min(_DEV_PAIRS, len(found))))


def _key(question: str) -> str:
    return squeeze(question).casefold()
