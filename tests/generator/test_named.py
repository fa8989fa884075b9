"""Rows and sections that a question names are answered from, and their neighbors are not."""

from __future__ import annotations

from citewell.core.quotable import quotable
from citewell.core.types import Reference
from citewell.generator.named import not_named

PRICES = "Ticket | Gate | Online\nAdult ticket | £12 | £11\nChild ticket | £6 | £5\nCarer ticket | 0 | 0"


def left(question: str, *references: Reference) -> list[str]:
    """Return the texts of the pieces that the question may be about."""
    pieces = [(at, piece) for at, of in enumerate(references) for piece in quotable(of.text, headers=True)]
    others = not_named(question, references, pieces)
    return [piece.text for at, piece in pieces if (at, piece) not in others]


def page(text: str, *headings: str, number: int = 1) -> Reference:
    """Return a passage of a page."""
    return Reference(number, "https://example.org/page", "Page", text, 0.5, headings=headings)


def test_of_a_table_only_rows_that_the_question_names_are_left() -> None:
    adult, child, carer = quotable(PRICES)
    assert left("How much is an adult's ticket?", page(PRICES)) == [adult.text]
    assert left("What do adults and children pay?", page(PRICES)) == [adult.text, child.text]
    assert left("How much is a ticket?", page(PRICES)) == [adult.text, child.text, carer.text]


def test_a_code_anywhere_in_a_row_names_it() -> None:
    table = "Meaning | Code | Remedy\nNo flame | E01 | clean\nHot gas | E04 | brush\nEmpty | E07 | fill"
    (row,) = left("What do I do after error e04?", page(table))
    assert row == "Meaning: Hot gas; Code: E04; Remedy: brush."


def test_what_stands_beside_a_table_is_left() -> None:
    text = f"We open in March.\n\n{PRICES}\n\nDogs are welcome."
    assert left("How much is an adult's ticket?", page(text))[::2] == [
        "We open in March.",
        "Dogs are welcome.",
    ]


def test_the_header_of_two_columns_names_no_row() -> None:
    table = "Ticket | Price\nAdult | £12\nChild | £6"
    assert left("How much is a ticket?", page(table)) == ["Ticket: Price.", "Adult: £12.", "Child: £6."]


def test_of_a_changelog_only_the_version_that_is_asked_for_is_left() -> None:
    changes = [
        page("HEIC files are read.", "3.1.0", "Added"),
        page("Python 3.12 is required.", "3.0.0", "Changed", number=2),
        page("The option of 3.0.0 is back.", "3.0.1", "Fixed", number=3),
    ]
    told = ["Python 3.12 is required.", "The option of 3.0.0 is back."]
    assert left("What changed in version 3.0.0?", *changes) == told
    assert len(left("What changed in version 4.0.0?", *changes)) == 3
    elsewhere = Reference(4, "https://example.org/other", "Other", "See the changelog.", 0.5)
    assert left("What changed in version 3.0.0?", *changes, elsewhere) == [*told, "See the changelog."]
