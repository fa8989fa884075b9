"""Reading the sources that a recipe names, and splitting them into training, dev and test data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.core.errors import InputError
from citewell.core.near_duplicates import NearDuplicates
from citewell.core.progress import Log
from citewell.core.splits import Split
from citewell.core.training.sources import DataFolders, question_key, sample, tell_problems
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.splits import divide, part
from citewell.scorer.data.types import ComparisonData, Group, Voted
from citewell.scorer.training.config import ScorerDataConfig, ScorerRecipe, ScorerSourceConfig


@dataclass(frozen=True)
class ComparisonSource:
    """The questions of one source with their comparisons; each is seen `repeat` times per epoch."""

    name: str
    groups: tuple[Group, ...]
    voted: tuple[Voted, ...] = ()
    repeat: int = 1

    @property
    def comparisons(self) -> int:
        """The number of comparisons."""
        return sum(len(group.comparisons) for group in self.groups)


@dataclass(frozen=True)
class Sources:
    """The training, dev and test data of a run.

    No two of them share a question, or a near-duplicate.
    """

    train: tuple[ComparisonSource, ...]
    dev: tuple[ComparisonSource, ...]
    test: tuple[ComparisonSource, ...]


def read_sources(
    config: ScorerRecipe, folders: DataFolders, tell: Log, hidden: Sequence[str] = ()
) -> Sources:
    """Read all sources of the recipe, and split those in `[[data]]` by their questions.

    Questions of `[[dev]]` sources and of `hidden`, and their near-duplicates, are removed from the split
    data. Raises `InputError` if a source has no training question left.
    """
    seed = config.training.seed
    dev = [_limited(each, _read(each, folders, tell), seed) for each in config.dev]
    read = [_read(each, folders, tell) for each in config.data]
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
                f"All questions of the source {source.name} are held out.",
                "Lower split.dev and split.test, or add data.",
            )
        left = sum(group.key in division.left_out for group in data.groups)
        if left:
            tell(f"{source.name}: skipped {left:,} questions that are near-duplicates of several splits")
    return Sources(tuple(found["train"]), tuple(found["dev"]), tuple(found["test"]))


def _read(source: ScorerSourceConfig, folders: DataFolders, tell: Log) -> ComparisonData:
    """Read all files of a source; a question in several files has the comparisons of all of them."""
    groups: dict[str, Group] = {}
    voted: dict[str, Voted] = {}
    for file in folders.files(source):
        data = read_comparisons(file, source.reading)
        tell(f"{source.name}: " + ", ".join(f"{count:,} {step}" for step, count in data.funnel.items()))
        tell_problems([str(problem) for problem in data.problems], source.name, tell)
        for each in data.voted:
            before = voted.get(each.group)
            voted[each.group] = replace(before, answers=before.answers + each.answers) if before else each
        for group in data.groups:
            first = groups.get(group.key)
            comparisons = first.comparisons + group.comparisons if first else group.comparisons
            groups[group.key] = replace(first or group, comparisons=comparisons)
    return ComparisonData(tuple(groups.values()), {}, (), tuple(voted.values()))


def _without(data: ComparisonData, questions: Sequence[str], near: float) -> ComparisonData:
    if not questions:
        return data
    known, others = {question_key(question) for question in questions}, NearDuplicates(questions, near)

    def free(question: str) -> bool:
        return question_key(question) not in known and not others.near(question)

    return replace(
        data,
        groups=tuple(group for group in data.groups if free(group.question)),
        voted=tuple(each for each in data.voted if free(each.question)),
    )


def _limited(source: ScorerSourceConfig, data: ComparisonData, seed: int) -> ComparisonSource:
    whole = _whole(source.name, data)
    if isinstance(source, ScorerDataConfig):
        whole = replace(whole, repeat=source.repeat)
    if source.limit is None:
        return whole
    groups = sample(data.groups, source.limit, f"{seed} {source.name}")
    keys = {group.key for group in groups}
    return replace(whole, groups=groups, voted=tuple(each for each in data.voted if each.group in keys))


def _whole(name: str, data: ComparisonData) -> ComparisonSource:
    return ComparisonSource(name, data.groups, data.voted)
