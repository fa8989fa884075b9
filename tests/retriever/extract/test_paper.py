"""HTML as WebGLM reads it."""

from __future__ import annotations

import pytest

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.paper import read_as_paper

pytest.importorskip("html2text", reason="html2text, of the extra `paper`, is not installed")

LINE = "A kite is a tethered craft with wing surfaces that react against the air to create lift."


def test_lines_of_50_to_1200_characters_are_kept_whatever_they_are() -> None:
    html = f"<nav>Home</nav><p>{LINE}</p><p>{'Long. ' * 300}</p><footer>{LINE} By us.</footer>"
    assert [block.text for block in read_as_paper(html.encode()).blocks] == [
        LINE,
        f"{LINE} By us.",
    ]


def test_a_page_without_such_lines_has_no_text() -> None:
    with pytest.raises(ExtractionError, match="no line of the page has 50 to 1,200 characters"):
        read_as_paper(b"<p>Short.</p>")
