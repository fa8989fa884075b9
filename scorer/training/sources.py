"""Reading the sources that a recipe names, and keeping apart what is learnt from and what is measured on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.near_duplicates import NearDuplicates
from citewell.core.progress import Tell
from citewell.core.recipe import find
from citewell.core.splits import Split
from citewell.core.text import squeeze
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.splits import divide, part
from citewell.scorer.data.types import ComparisonData, Group, Voted
from citewell.scorer.training.config import ScorerDataConfig, ScorerRecipe, ScorerSourceConfig

_MOST_PROBLEMS = 5


@dataclass(frozen=True)
class ComparisonSource:
    """The questions of one source with their comparisons; each is seen `repeat` times an epoch."""

    name: str
    groups: tuple[Group, ...]
    voted: tuple[Voted, ...] = ()
    repeat: int = 1

    @property
    def comparisons(self) -> int:
        """How many comparisons there are."""
        return sum(len(group.comparisons) for group in self.groups)


@dataclass(frozen=True)
class Sources:
    """What a run learns from, what its checkpoints are chosen by, and what it is tested on at its end.

    No question is in two of them, nor nearly so.
    """

    train: tuple[ComparisonSource, ...]
    dev: tuple[ComparisonSource, ...]
    test: tuple[ComparisonSource, ...]


def read_sources(config: ScorerRecipe, recipe: Path, tell: Tell, hidden: Sequence[str] = ()) -> Sources:
    """Read all sources of the recipe in the file `recipe`, and divide those in `[[data]]` by their questions.

    A question of a `[[dev]]` source, or one of `hidden`, is taken out of the data that are divided, and so is
    one whose words are nearly the same. Raises `InputError` where nothing is left to learn from a source.
    """
    seed = config.training.seed
    dev = [_limited(each, _read(each, recipe, tell), seed) for each in config.dev]
    read = [_read(each, recipe, tell) for each in config.data]
    kept_apart = [*hidden, *(group.question for each in dev for group in each.groups)]
    read = [_without(data, kept_apart, config.split.near) for data in read]
    division = divide(read, config.split)
    found: dict[Split, list[ComparisonSource]] = {"train": [], "dev": dev, "test": []}
    for source, data in zip(config.data, read, strict=True):
        for split, sources in found.items():
            some = part(data, division, split)
            if some.groups:
                sources.append(
                    _limited(source, some, seed) if split == "train" else _whole(source.name, some)
                )
        if not found["train"] or found["train"][-1].name != source.name:
            raise InputError(
                f"The source {source.name} has no question to learn from that is not held out.",
                "Lower split.dev and split.test, or give more data.",
            )
        left = sum(group.key in division.left_out for group in data.groups)
        if left:
            tell(f"{source.name}: {left:,} questions are near others of several splits, and left out")
    return Sources(tuple(found["train"]), tuple(found["dev"]), tuple(found["test"]))


def source_files(source: ScorerSourceConfig, recipe: Path) -> list[Path]:
    """The files that a source is read from."""
    return [find(name, recipe) for name in source.files]


def _read(source: ScorerSourceConfig, recipe: Path, tell: Tell) -> ComparisonData:
    """All files of a source as one; a question that is in several of them has the comparisons of all."""
    groups: dict[str, Group] = {}
    voted: dict[str, Voted] = {}
    for file in source_files(source, recipe):
        data = read_comparisons(file, source.reading)
        _report(source.name, data, tell)
        for each in data.voted:
            before = voted.get(each.group)
            voted[each.group] = replace(before, answers=before.answers + each.answers) if before else each
        for group in data.groups:
            first = groups.get(group.key)
            comparisons = first.comparisons + group.comparisons if first else group.comparisons
            groups[group.key] = replace(first or group, comparisons=comparisons)
    return ComparisonData(tuple(groups.values()), {}, (), tuple(voted.values()))


def _report(name: str, data: ComparisonData, tell: Tell) -> None:
    tell(f"{name}: " + ", ".join(f"{count:,} {step}" for step, count in data.funnel.items()))
    for problem in data.problems[:_MOST_PROBLEMS]:
        tell(f"{name}: {problem}")
    if (more := len(data.problems) - _MOST_PROBLEMS) > 0:
        tell(f"{name}: {more:,} more lines have problems")


def _without(data: ComparisonData, questions: Sequence[str], near: float) -> ComparisonData:
    if not questions:
        return data
    known, others = {_key(question) for question in questions}, NearDuplicates(questions, near)

    def free(question: str) -> bool:
        return _key(question) not in known and not others.near(question)

    return replace(
        data,
        groups=tuple(group for group in data.groups if free(group.question)),
        voted=tuple(each for each in data.voted if free(each.question)),
    )


def _limited(source: ScorerSourceConfig, data: ComparisonData, seed: int) -> ComparisonSource:
    whole = _whole(source.name, data)
    if isinstance(source, ScorerDataConfig):
        whole = replace(whole, repeat=source.repeat)
    if source.limit is None or len(data.groups) <= source.limit:
        return whole
    chance = random.Random(f"{seed} {source.name}")  # noqa: S311
    drawn = sorted(chance.sample(range(len(data.groups)), source.limit))
    groups = tuple(data.groups[place] for place in drawn)
    keys = {group.key for group in groups}
    return replace(whole, groups=groups, voted=tuple(each for each in data.voted if each.group in keys))


def _whole(name: str, data: ComparisonData) -> ComparisonSource:
    return ComparisonSource(name, data.groups, data.voted)


def _key(question: str) -> str:
    return squeeze(question).casefold()
