"""Options for reading a scorer's data: the conversion of votes to pairs, and the cleaning of texts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from citewell.core.section import Section


class VoteConfig(Section):
    """Conversion of votes to pairs of a better and a worse answer; the defaults are WebGLM's (§3.3)."""

    above: int = Field(3, description="A valid answer has more votes than this.")
    answers: int = Field(8, ge=2, description="Valid answers that a question needs.")
    truncate: bool = Field(True, description="Cut answers at the median length, and drop the short ones.")
    shortest: float = Field(
        0.5, ge=0, le=1, description="Share of the median length under which an answer is dropped."
    )
    ranks: int = Field(5, ge=0, description="The answers of a pair are more than this many ranks apart.")
    ratio: float = Field(
        1.0, ge=1, description="The better answer of a pair has at least this many times the other's votes."
    )
    most_pairs: int | None = Field(None, ge=1, description="Most pairs of a question, drawn by its words.")


PAPER = VoteConfig()
SMALL_FORUM = VoteConfig(above=0, answers=3, ranks=0, ratio=2.0)
"""For forums with few answers per question: ranks say little there, so votes must differ a lot."""
RAW = VoteConfig(above=-(10**9), answers=2, truncate=False, ranks=0)
"""All pairs of answers with different votes, unfiltered: only to show the faults of such pairs."""


class HygieneConfig(Section):
    """Rows of users, which name a `rater`, that are left out; the defaults are close to InstructGPT's."""

    personal: bool = Field(True, description="Leave out questions and comments with personal data.")
    prefix: int = Field(
        40, ge=1, description="Characters in which two different questions must begin alike to be near."
    )
    share: float = Field(
        0.8, gt=0, le=1, description="Share of the longer question that must be alike from the start."
    )
    per_rater: int = Field(200, ge=1, description="Most questions of a rater.")


class ReadingConfig(Section):
    """Options for reading a file."""

    votes: VoteConfig = VoteConfig()
    hygiene: HygieneConfig = HygieneConfig()
    most_chars: int = Field(20_000, ge=100, description="Characters at which longer texts are cut.")
    body_chars: int = Field(
        500, ge=0, description="Characters of a forum question's body that are kept after its title."
    )
    license: str = Field("", description="License of the rows that name none.")


class SplitConfig(Section):
    """Division of questions, or of the raters of users' data, into splits."""

    by: Literal["question", "rater"] = Field(
        "question", description="What is divided: of rows that name a rater, `rater` keeps people apart."
    )
    dev: float = Field(0.1, ge=0, lt=0.5, description="Share of the questions in the split dev.")
    test: float = Field(0.1, ge=0, lt=0.5, description="Share of the questions in the split test.")
    half: Literal["all", "first", "second"] = Field(
        "all", description="Half of the training questions to use, so that two scorers share none."
    )
    near: float = Field(
        0.6, gt=0, le=1, description="Jaccard similarity of words from which two questions ask the same."
    )
