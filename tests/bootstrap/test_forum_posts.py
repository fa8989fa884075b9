from __future__ import annotations

import pytest

from citewell.bootstrap.forum_posts import post_process, with_urls


@pytest.mark.parametrize(
    ("title", "selftext", "question"),
    [
        ("Why is the sky blue?", "", "Why is the sky blue?"),
        ("gravity", "", "Explain: gravity"),
        ("ELI5: gravity", "", "ELI5: gravity"),
        ("Explain gravity to me", "", "Explain gravity to me"),
        ("whats a quasar", "", "whats a quasar"),
        ("Whatsoever", "", "Explain: Whatsoever"),
        ("Magnets", "How do they work", "Magnets\n\nHow do they work"),
        ("Why?", "[removed]", "Why?"),
        ("Why?", "[deleted]", "Why?"),
        ("  Why? ", "  \n", "Why?"),
        ("[deleted by user]", "Why?", None),
        ("为什么天空是蓝色的？", "", "为什么天空是蓝色的？"),
        ("", "", ""),
    ],
)
def test_questions_are_worded_as_webgpt_words_them(title: str, selftext: str, question: str | None) -> None:
    assert post_process(title, selftext) == question


def test_explain_can_be_left_out() -> None:
    assert post_process("gravity", explain=False) == "gravity"


def test_urls_take_the_place_of_their_tokens() -> None:
    assert with_urls("See _URL_1_ and _URL_0_, not _URL_7_.", ["http://a", "http://b"]) == (
        "See http://b and http://a, not _URL_7_."
    )
