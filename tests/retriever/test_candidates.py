"""The passages that the encoder sees: which is a page's lead, what numbers are, and how words are counted."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.core.types import Passage
from citewell.retriever.candidates import CandidateFilter, lead, numbers

TABLE = "\n".join(f"Caesium | row {row} | density, melting point" for row in range(8))
ASIDE = "This page was written by many hands over many years, and anybody may copy it, " + "again " * 12
PROSE = (
    "Caesium is a soft and golden metal that melts at 28 degrees, a little below the warmth of a hand, " * 2
)


def passages(*texts: str) -> list[Passage]:
    return [Passage("https://example.org/caesium", "Caesium", text) for text in texts]


def test_the_lead_is_the_first_paragraph_of_prose_that_names_the_title() -> None:
    for before in (TABLE, ASIDE, "Caesium (55Cs) in a photograph of 1996, taken by a student of the school."):
        assert lead(passages(before, PROSE, PROSE), range(3)) == 1
    assert lead(passages(TABLE, ASIDE), range(2)) == 0


def test_a_definition_below_a_list_is_the_lead() -> None:
    listed = "- Melting\n- Boiling\n- Density\nCaesium (symbol Cs) is a soft and golden metal of its group."
    assert lead(passages(TABLE, listed, PROSE), range(3)) == 1


def test_the_numbers_of_a_day_are_the_same_however_it_is_written() -> None:
    assert numbers("2026-11-09 boiler") == numbers("9 November 2026") == {"9", "2026"}


def test_numbers_are_read_whole() -> None:
    assert numbers("In 1869, release 2.39 had 1,500 users.") == {"1869", "2.39", "1,500"}


def test_a_short_passage_gains_nothing_by_its_length() -> None:
    """BM25 divides by the length, so that a heading would beat every paragraph."""
    found = CandidateFilter("How dense is caesium?", 2)
    page = found.count(passages("Caesium", "Caesium is a metal, " + "and so on " * 6))
    heading, paragraph = found.select([page], np.arange(2), np.zeros(2, dtype=bool)).lexical
    assert heading == paragraph == 1


def test_lexical_scores_are_shares_of_the_best() -> None:
    found = CandidateFilter("How dense is caesium?", 2)
    page = found.count(passages(PROSE, PROSE.replace("metal", "dense metal")))
    candidates = found.select([page], np.arange(2), np.zeros(2, dtype=bool))
    assert candidates.rows.tolist() == [1, 0]
    assert candidates.lexical[0] == 1
    assert 0 < candidates.lexical[1] < 1


@pytest.mark.parametrize(("question", "most"), [("What is caesium?", 3), ("How dense is caesium?", 7)])
def test_fewer_are_encoded_beside_the_lead_on_the_subject(question: str, most: int) -> None:
    found = CandidateFilter(question, 7)
    page = found.count(passages(*(f"{PROSE} {number} atoms of caesium." for number in range(9))))
    assert len(found.select([page], np.arange(9), np.zeros(9, dtype=bool)).rows) == most
