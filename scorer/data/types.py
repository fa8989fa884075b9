"""Training and evaluation data of scorers: comparisons, rankings, and answers with their votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import NamedTuple

TIE = 0.5
"""The preference between two answers that are equally good."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers to a question, and people's preference between them.

    `preference` is 1 if the first is preferred, 0 if the second is, .5 for a tie, and between these if people
    disagree. Comparisons of the same `group` are about the same question. `references` are those of both
    answers, or of the first if `second_references` has the second's own. `weight` is the comparison's share
    of the loss. `rater` is the pseudonym of the person, if it is known.
    """

    question: str
    first: str
    second: str
    preference: float
    _: KW_ONLY
    references: tuple[str, ...] = ()
    second_references: tuple[str, ...] | None = None
    group: str
    source: str
    weight: float = 1.0
    rater: str = ""

    @property
    def both_references(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The references of the first answer, and those of the second."""
        second = self.second_references
        return self.references, self.references if second is None else second


@dataclass(frozen=True, slots=True)
class RankedAnswers:
    """The answers to one question, best first; equal numbers in `ranks` are ties."""

    question: str
    answers: tuple[str, ...]
    _: KW_ONLY
    ranks: tuple[float, ...] | None = None
    references: tuple[str, ...] = ()
    group: str
    source: str
    rater: str = ""

    def comparisons(self) -> tuple[Comparison, ...]:
        """Return all K (K - 1) / 2 pairs, whose weights sum to 1 (InstructGPT §3.4, equation 1)."""
        ranks = self.ranks or range(len(self.answers))
        pairs = list(combinations(zip(self.answers, ranks, strict=True), 2))
        return tuple(
            Comparison(
                self.question,
                first,
                second,
                TIE if upper == lower else float(upper < lower),
                references=self.references,
                group=self.group,
                source=self.source,
                weight=1 / len(pairs),
                rater=self.rater,
            )
            for (first, upper), (second, lower) in pairs
        )


@dataclass(frozen=True, slots=True)
class Group:
    """All comparisons of one question, which belong in one split, and in one element of a batch."""

    key: str
    question: str
    comparisons: tuple[Comparison, ...]
    license: str = ""


class VotedAnswer(NamedTuple):
    """An answer and its net votes: upvotes minus downvotes."""

    text: str
    votes: float
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Voted:
    """A question and its answers with their votes, in the order of the file."""

    question: str
    answers: tuple[VotedAnswer, ...]
    _: KW_ONLY
    group: str
    source: str
    license: str = ""


@dataclass(frozen=True, slots=True)
class DataProblem:
    """A skipped or repaired line of a file: its place, and the reason as a key and as a sentence."""

    where: str
    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True)
class ComparisonData:
    """The content of files: comparisons by question, counts after each step, and problems.

    `voted` are the questions with votes from which the comparisons were made, as they are in the file: for
    classification and regression, and for measures within a question. It is empty for other files.
    """

    groups: tuple[Group, ...]
    funnel: Mapping[str, int]
    problems: tuple[DataProblem, ...]
    voted: tuple[Voted, ...] = ()

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of all groups."""
        return tuple(comparison for group in self.groups for comparison in group.comparisons)

    @property
    def licenses(self) -> Mapping[str, int]:
        """The number of groups under each license; `unknown` if a file names none."""
        return dict(Counter(group.license or "unknown" for group in self.groups))
