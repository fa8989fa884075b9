"""Passages suit the encoder, and no word gets lost on the way to them."""

from __future__ import annotations

import random

import pytest

from citewell.retriever.extract.document import Block
from citewell.retriever.extract.paragraphs import to_passages

SENTENCE = "The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days."


def texts(*blocks: Block, **limits: int) -> list[str]:
    return [p.text for p in to_passages(blocks, "u", "t", **limits)]


def test_short_blocks_join_the_next_of_their_section_and_no_other() -> None:
    passages = to_passages(
        [
            Block("Short.", ("A",)),
            Block(SENTENCE, ("A",)),
            Block("Alone.", ("B",)),
            Block(SENTENCE + " Again.", ("C",)),
            Block("Last.", ("C",)),
        ],
        "u",
        "t",
    )
    assert [(p.text, p.headings) for p in passages] == [
        (f"Short.\n{SENTENCE}", ("A",)),
        ("Alone.", ("B",)),
        (f"{SENTENCE} Again.\nLast.", ("C",)),
    ]


@pytest.mark.parametrize("colon", [":", "："])
def test_a_colon_announces_the_next_block(colon: str) -> None:
    lead_in = SENTENCE.rstrip(".") + colon
    assert texts(Block(lead_in), Block("- " + SENTENCE)) == [f"{lead_in}\n- {SENTENCE}"]


def test_long_blocks_are_split_between_sentences_evenly() -> None:
    sentences = [f"{n} {SENTENCE}" for n in range(30)]
    passages = texts(Block(" ".join(sentences)))
    assert " ".join(passages) == " ".join(sentences)
    assert all(passage.endswith(".") for passage in passages)
    assert max(map(len, passages)) <= 1000
    assert min(map(len, passages)) >= 500


def test_long_lists_are_split_between_items() -> None:
    items = [f"- {n} {SENTENCE}" for n in range(30)]
    passages = texts(Block("\n".join(items)))
    assert "\n".join(passages).split("\n") == items
    assert max(map(len, passages)) <= 1000


def test_white_space_is_normalized_but_not_in_listings() -> None:
    assert texts(Block("a\u00a0 b\t c \n\n  d soft\u00adhyphen")) == ["a b c\n  d softhyphen"]
    assert texts(Block("if x:\n    y  = 1  \n\n    z", verbatim=True)) == ["if x:\n    y  = 1\n    z"]


def test_exact_duplicates_are_dropped() -> None:
    assert texts(Block(SENTENCE), Block(SENTENCE), Block(SENTENCE + " More.")) == [
        SENTENCE,
        SENTENCE + " More.",
    ]


def test_blank_blocks_give_nothing() -> None:
    assert texts(Block(""), Block(" \n\u00a0\u200b"), Block("\n", verbatim=True)) == []


def test_no_word_is_lost_and_no_passage_is_too_long() -> None:
    chance = random.Random(20240521)
    for _ in range(150):
        number = 0
        blocks = []
        for _ in range(chance.randint(1, 12)):
            words = []
            for _ in range(chance.choice([1, 3, 20, 90])):
                words.append(
                    f"w{number}" + "x" * chance.choice([0, 0, 4, 30]) + chance.choice(["", "", ",", ".", ":"])
                )
                number += 1
            text = "".join(word + chance.choice([" ", " ", "  ", "\n"]) for word in words)
            blocks.append(Block(text, (chance.choice("AB"),), chance.random() < 0.2))
        max_chars = chance.choice([60, 200, 1000])
        passages = to_passages(blocks, "u", "t", min_chars=20, max_chars=max_chars)
        assert [word for p in passages for word in p.text.split()] == [
            word for block in blocks for word in block.text.split()
        ]
        assert all(0 < len(p.text) <= max_chars for p in passages)
        assert len({p.id for p in passages}) == len(passages)


def test_text_without_spaces_or_sentences_is_still_cut() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(2500))
    passages = texts(Block(text))
    assert "".join(passages) == text
    assert max(map(len, passages)) <= 1000
