"""Sentences that ask, and do not answer."""

from __future__ import annotations

import pytest

from citewell.core.question_sentences import is_question


@pytest.mark.parametrize(
    "sentence",
    [
        "Why does a clock stop?",
        "“May I bring my dog?”",
        "People ask why a mechanical clock stops.",
        "Many visitors have asked us whether dogs may come in.",
        "You may well wonder how the lock works.",
        "We are often asked what the tour costs.",
    ],
)
def test_a_sentence_that_only_asks_is_a_question(sentence: str) -> None:
    assert is_question(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "People ask why a clock stops, and the answer is dirt.",
        "You may ask the clerk for a key.",
        "The judge asked whether the letter was real.",
        "Visitors are asked to leave by six.",
        "The society is open to people who wonder.",
    ],
)
def test_a_sentence_that_tells_something_is_not_a_question(sentence: str) -> None:
    assert not is_question(sentence)
