"""What a form consists of."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.server.studies.forms.scales import ComparisonScale, LevelChoice, RatingScale


@dataclass(frozen=True)
class Joint:
    """A measure that is 1 where all its scales are 1, such as truthful and informative."""

    name: str
    title: str
    scales: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StudyForm:
    """The questions of one page of a study, on `fewest` to `most` answers.

    Where a form is not `cited`, its pages show neither citation marks nor references. `alone` replaces the
    comparison where an item has one answer. `claims` asks for trust in references and for the support and
    relevance of sentences. A share `share_required` of the items needs every part; of comparisons, the others
    only need the scales `always`.
    """

    name: str
    title: str
    source: str
    instructions: tuple[str, ...]
    fewest: int = 1
    most: int = 9
    cited: bool = False
    ranked: bool = False
    claims: bool = False
    answer: tuple[RatingScale, ...] = ()
    reference: tuple[RatingScale, ...] = ()
    comparison: tuple[ComparisonScale, ...] = ()
    alone: tuple[RatingScale, ...] = ()
    always: tuple[str, ...] = ()
    flags: tuple[LevelChoice, ...] = ()
    joint: tuple[Joint, ...] = ()
    share_required: float = 1.0

    def answer_scales(self, answers: int) -> tuple[RatingScale, ...]:
        """Return the scales of each answer of an item with this many answers."""
        return self.alone if self.alone and answers == 1 else self.answer
