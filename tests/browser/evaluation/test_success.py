"""When a quote has an answer."""

from __future__ import annotations

import pytest

from citewell.browser.evaluation.success import has_answer


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("It was painted by Michelangelo.", "michelangelo", True),
        ("the United States of America", "The United States", True),
        ("U.S. troops", "U.S.", True),
        ("in 19120", "1912", False),
        ("a pianist", "piano", False),
        ("Beethoven's ninth", "Beethovens", True),
        ("Café Müller", "café müller", True),
        ("anything", "the", False),
        ("anything", "", False),
    ],
)
def test_whole_words_count_and_case_and_articles_do_not(text: str, answer: str, expected: bool) -> None:
    assert has_answer(text, ["none of this", answer]) is expected
