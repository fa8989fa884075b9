"""What a question names: rows of a table, and sections by a code; others are about other things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citewell.core.quotable import Quotable
from citewell.core.text import content_words
from citewell.core.types import Reference
from citewell.generator.citations.support import stems

# A code or a version, such as `E04` or `3.0.1`.
_CODE = re.compile(r"\b(?:\d+(?:\.\d+)+|(?=[^\W\d_]*\d)(?=\d*[^\W\d_])[^\W_]+)\b")

Piece = tuple[int, Quotable]
"""The place of a reference, and a piece of it."""


def not_named(question: str, references: Sequence[Reference], pieces: Sequence[Piece]) -> set[Piece]:
    """Return the pieces that are about other things than what the question names.

    These are rows without a word of the question in their first cell and without its code, where another row
    of the reference has one that not all have; and pieces below headings without its code, where headings of
    another reference of the page have it.
    """
    return {*_other_rows(question, pieces), *_other_sections(question, references, pieces)}


def _other_rows(question: str, pieces: Sequence[Piece]) -> Iterator[Piece]:
    asked, codes = stems(content_words(question)), _codes(question)
    rows = [(at, piece) for at, piece in pieces if piece.is_row and not piece.is_header]
    for reference in {at for at, _ in rows}:
        table = {row: stems(content_words(row[1].name)) for row in rows if row[0] == reference}
        telling = asked - frozenset.intersection(*table.values())
        named = {row for row, name in table.items() if telling & name or codes & _codes(row[1].text)}
        yield from (row for row in table if named and row not in named)


def _other_sections(
    question: str, references: Sequence[Reference], pieces: Sequence[Piece]
) -> Iterator[Piece]:
    codes = _codes(question)
    named = {at for at, of in enumerate(references) if codes & _codes(" ".join(of.headings))}
    pages = {references[at].url for at in named}
    for at, piece in pieces:
        if at not in named and references[at].url in pages and not codes & _codes(piece.text):
            yield at, piece


def _codes(text: str) -> frozenset[str]:
    return frozenset(_CODE.findall(text.upper()))
