"""The evaluation data of scorers: questions, their answers, and people's preferences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from citewell.core.text import words
from citewell.scorer.data.config import ReadingConfig, VoteConfig
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.report import report
from citewell.scorer.data.types import Group, Voted
from citewell.scorer.data.votes import prepare


class AnswerPair(NamedTuple):
    """Two answers of a question by index; `preference` is 1 if the first is preferred, .5 for a tie."""

    first: int
    second: int
    preference: float


@dataclass(frozen=True)
class Item:
    """One question: its answers as scorers read them, its valid pairs, and votes if there are any.

    `votes` is empty, or has one number per answer.
    """

    key: str
    question: str
    answers: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    pairs: tuple[AnswerPair, ...]
    votes: tuple[float, ...] = ()

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of words of each answer."""
        return tuple(len(words(answer)) for answer in self.answers)


@dataclass(frozen=True)
class ScoringTask:
    """The questions of a file. `notes` describe their preparation and the problems of the file."""

    name: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(len(item.pairs) for item in self.items)

    @property
    def has_votes(self) -> bool:
        """True if measures within a question can be computed."""
        return any(item.votes for item in self.items)

    @property
    def has_references(self) -> bool:
        """True if any answer has references."""
        return any(any(item.references) for item in self.items)


def read_task(file: Path, config: ReadingConfig | None = None, *, limit: int | None = None) -> ScoringTask:
    """Read votes or comparisons, which are detected by their fields (docs/scorer-data.md).

    Votes become pairs as `config` says, by default as in WebGLM (§3.3), and scorers read the answers in that
    form: cut to the median length. `limit` keeps the first questions. Raises `InputError` if the file cannot
    be read or has no pair.
    """
    config = config or ReadingConfig()
    data = read_comparisons(file, config)
    voted = {each.group: each for each in data.voted}
    items = tuple(_item(group, voted.get(group.key), config.votes) for group in islice(data.groups, limit))
    return ScoringTask(file.name, items, tuple(report(data)))


def _item(group: Group, voted: Voted | None, config: VoteConfig) -> Item:
    prepared = prepare(voted, config) if voted else None
    answers = prepared.answers if prepared else ()
    votes = {(answer.text, answer.references): answer.votes for answer in answers}
    places = {key: place for place, key in enumerate(votes)}
    pairs = []
    for each in group.comparisons:
        first, second = zip((each.first, each.second), each.both_references, strict=True)
        pairs.append(
            AnswerPair(
                places.setdefault(first, len(places)),
                places.setdefault(second, len(places)),
                each.preference,
            )
        )
    return Item(
        group.key,
        group.question,
        tuple(text for text, _ in places),
        tuple(references for _, references in places),
        tuple(pairs),
        # If comparisons name answers without votes, there is no order of all answers.
        tuple(votes.values()) if len(votes) == len(places) else (),
    )
