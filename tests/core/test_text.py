"""Words and sentences in several scripts."""

from __future__ import annotations

import unicodedata

import pytest

from citewell.core.text import content_words, first_words, shorten, space_out, split_sentences, squeeze, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World 2!", ["hello", "world", "2"]),
        ("snake_case and kebab-case", ["snake", "case", "and", "kebab", "case"]),
        ("天空是蓝色的。", ["天", "空", "是", "蓝", "色", "的"]),
        ("用Python写", ["用", "python", "写"]),
        ("ひらがな カタ", ["ひ", "ら", "が", "な", "カ", "タ"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
        ("L'été à Århus", ["l", "été", "à", "århus"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("", []),
        (" —… ", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_do_not_depend_on_how_accents_are_stored() -> None:
    decomposed = unicodedata.normalize("NFD", "Crème brûlée")
    assert decomposed != "Crème brûlée"
    assert words(decomposed) == words("Crème brûlée") == ["crème", "brûlée"]


def test_words_of_ascii_text_are_those_of_any_text() -> None:
    text = "".join(map(chr, range(128))) + " Snake_Case, it's 3.5"
    assert [*words(text), "é"] == words(f"{text} é")


def test_content_words_leave_function_words_out() -> None:
    assert content_words("Why is the sky blue?") == ["sky", "blue"]
    assert content_words("天空") == ["天", "空"]


def test_a_text_of_function_words_keeps_them() -> None:
    assert content_words("To be or not to be") == ["to", "be", "or", "not", "to", "be"]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith went to the U.S. in 1990.", "He met Mr. J. Doe, e.g. at noon."],
        ["It cost $3.50!", "Really?", "Version 2.10.1 says so."],
        ["Ms. Hill saw Dr. No.", "The Rt Hon. The Baroness Thatcher did not."],
        ["The .NET runtime reads .env files.", "It does."],
        ["天空是蓝色的。", "因为瑞利散射！", "真的吗？"],
    ],
)
def test_split_sentences(sentences: list[str]) -> None:
    joint = "" if sentences[0].startswith("天") else " "
    assert split_sentences(joint.join(sentences)) == sentences


def test_splitting_loses_no_word() -> None:
    text = 'She said: "Go! Now." Then (see fig. 3) 天空。เขา… and\n\nthe end'
    assert words(" ".join(split_sentences(text))) == words(text)
    assert split_sentences(" \n ") == []


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(0, ""), (1, "The"), (2, "The sky"), (3, "The sky, it"), (5, "The sky, it\n is 天"), (9, None)],
)
def test_first_words_keeps_what_stands_between_them(limit: int, expected: str | None) -> None:
    text = "The sky, it\n is 天空 …"
    assert first_words(text, limit) == (text if expected is None else expected)


@pytest.mark.parametrize("text", ["a_b c-d é", "cafe\u0301 नमस्ते दुनिया", "x 天空 y", "It's 3.5 km"])
def test_first_words_counts_as_words_does(text: str) -> None:
    for limit in range(len(words(text)) + 1):
        assert words(first_words(text, limit)) == words(text)[:limit]


def test_space_out_separates_only_scripts_without_spaces() -> None:
    assert squeeze(space_out("abc天空def")) == "abc 天 空 def"
    assert space_out("plain words") == "plain words"


def test_squeeze() -> None:
    assert squeeze(" a\n\tb\u00a0 c ") == "a b c"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(100, "The sky, as we know, is blue"), (28, "The sky, as we know, is blue"), (10, "The sky…")],
)
def test_shorten(limit: int, expected: str) -> None:
    assert shorten("The sky, as we know, is blue", limit) == expected


@pytest.mark.parametrize("limit", [1, 5, 12, 40])
def test_shorten_keeps_to_its_limit(limit: int) -> None:
    for text in ("x" * 50, "a few short words in a row, then more of them", "天空" * 30):
        assert len(shorten(text, limit)) <= limit
