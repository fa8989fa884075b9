"""When a text has an accepted answer, and how much a short answer agrees with one."""

from __future__ import annotations

import pytest

from citewell.core.answers import exact_match, has_answer, token_f1


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


@pytest.mark.parametrize(
    ("text", "exact", "f1"),
    [
        ("The Eiffel Tower!", True, 1.0),
        ("eiffel tower", True, 1.0),
        ("the tower", False, 2 / 3),
        ("It is the Eiffel Tower in Paris", False, 4 / 8),
        ("tower tower", False, 2 / 4),
        ("Big Ben", False, 0.0),
        ("", False, 0.0),
    ],
)
def test_exact_match_and_f1_are_those_of_squad(text: str, exact: bool, f1: float) -> None:
    answers = ["La Tour", "Eiffel Tower"]
    assert exact_match(text, answers) is exact
    assert token_f1(text, answers) == pytest.approx(f1)
