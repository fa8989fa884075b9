"""Passages suit the encoder and a reader, and no word of the text gets lost on the way to them."""

from __future__ import annotations

import random

import pytest

from citewell.retriever.extract.document import Block
from citewell.retriever.extract.page import extract
from citewell.retriever.extract.paragraphs import to_passages

SENTENCE = "The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days."
LONG = " ".join(f"{SENTENCE[:-1]} {word}." for word in ("north", "east", "south", "west"))


def texts(*blocks: Block, **limits: int) -> list[str]:
    return [p.text for p in to_passages(blocks, "u", "t", **limits)]


def test_short_paragraphs_are_joined_within_their_section() -> None:
    passages = to_passages(
        [
            Block("Short.", ("A",)),
            Block(SENTENCE, ("A",)),
            Block(SENTENCE + " Again.", ("B",)),
            Block("Last.", ("B",)),
        ],
        "u",
        "t",
    )
    assert [(p.text, p.headings) for p in passages] == [
        (f"Short.\n{SENTENCE}", ("A",)),
        (f"{SENTENCE} Again.\nLast.", ("B",)),
    ]


def test_paragraphs_of_a_good_length_stand_alone() -> None:
    assert texts(Block(LONG), Block(f"{LONG} More.")) == [LONG, f"{LONG} More."]


def test_sections_of_a_few_words_are_joined_under_their_headings() -> None:
    notes = [
        Block("Ask Jane.", ("Printer",)),
        Block("On Monday.", ("Cleaning",)),
        Block("In the blue folder by the door.", ("Keys",)),
        Block(LONG, ("Kites",)),
    ]
    assert [(p.text, p.headings) for p in to_passages(notes, "u", "Office")] == [
        ("Printer\nAsk Jane.\nCleaning\nOn Monday.\nKeys\nIn the blue folder by the door.", ()),
        (LONG, ("Kites",)),
    ]


def test_a_question_stays_with_its_answer() -> None:
    page = b"# FAQ\n\n## Who pays for the new printer?\n\nThe office does, from the budget of its floor.\n\n"
    page += b"## Where is it?\n\nIt stands in the corridor of the second floor, next to the stairs.\n"
    assert [passage.text for passage in extract(page, "faq.md").passages] == [
        "Who pays for the new printer?\nThe office does, from the budget of its floor.",
        "Where is it?\nIt stands in the corridor of the second floor, next to the stairs.",
    ]


def test_a_page_of_three_short_lines_is_one_passage() -> None:
    assert texts(Block("Buy milk."), Block("Call Ann."), Block("Fly a kite.")) == [
        "Buy milk.\nCall Ann.\nFly a kite."
    ]


@pytest.mark.parametrize("colon", [":", "："])
def test_a_colon_announces_the_next_block(colon: str) -> None:
    lead_in = SENTENCE.rstrip(".") + colon
    assert texts(Block(LONG), Block(lead_in), Block("- " + LONG)) == [LONG, f"{lead_in}\n- {LONG}"]


def test_each_part_of_a_long_list_begins_with_its_lead_in() -> None:
    items = [f"- {n} {SENTENCE}" for n in range(30)]
    passages = texts(Block("Nothing else flies. Kites need this:"), Block("\n".join(items)))
    assert passages[0].startswith(f"Nothing else flies. Kites need this:\n{items[0]}\n")
    assert all(passage.startswith("Kites need this:\n- ") for passage in passages[1:])
    assert [line for passage in passages for line in passage.split("\n") if line[0] == "-"] == items


def test_each_part_of_a_long_table_begins_with_its_header() -> None:
    rows = [f"{n} | {SENTENCE}" for n in range(30)]
    passages = texts(Block("\n".join(["Number | Remark", *rows])))
    assert len(passages) > 2
    assert all(passage.startswith("Number | Remark\n") for passage in passages)
    assert [line for passage in passages for line in passage.split("\n")[1:]] == rows


def test_an_infobox_is_a_passage_apart_from_the_lead() -> None:
    box = "\n".join(f"Property {n}   {n * 7} g/mol" for n in range(12))
    lead = "Actinium is a chemical element in the periodic table that has the symbol Ac and atomic number 89."
    assert texts(Block(box, verbatim=True), Block("References"), Block(lead)) == [box, lead]


def test_a_caption_follows_the_paragraph_beside_it() -> None:
    assert texts(
        Block("A kite of 1893", ("History",), role="caption"),
        Block(LONG, ("History",)),
        Block(f"{LONG} More.", ("Use",)),
        Block("A kite in use", ("Use",), role="caption"),
    ) == [f"{LONG}\nA kite of 1893", f"{LONG} More.\nA kite in use"]
    assert texts(Block("A kite of 1893", role="caption"), Block(SENTENCE), Block(f"{SENTENCE} More.")) == [
        f"{SENTENCE}\n{SENTENCE} More.\nA kite of 1893"
    ]


def test_navigation_is_left_out() -> None:
    page = (
        f"<h1>Kites</h1><p>{LONG}</p><section id='see-also'><h2>See also</h2><ul>"
        "<li><a href='/wind'>Wind</a></li><li><a href='/string'>String</a></li></ul></section>"
        "<section id='categories'><h2>Categories</h2><ul><li><a href='/c'>People &gt; Toys</a></li></ul>"
        "</section>"
    )
    found = extract(f"<html><body><main>{page}</main></body></html>".encode(), "https://a.example/")
    assert [passage.text for passage in found.passages] == [LONG]


def test_what_a_box_holds_is_no_navigation() -> None:
    toolbox = f"# Toolbox\n\n{LONG}\n\n## Contents\n\n- 3 screws\n- 2 bolts\n\n## Categories\n\n- steel\n"
    found = extract(toolbox.encode(), "toolbox.md")
    assert all(part in "\n".join(p.text for p in found.passages) for part in ("3 screws", "2 bolts", "steel"))


def test_whom_to_ask_is_no_navigation() -> None:
    assert texts(Block(LONG), Block("Further information: History of kites")) == [LONG]
    assert texts(Block(LONG), Block("Further information from Anna, 030 1234")) == [
        f"{LONG}\nFurther information from Anna, 030 1234"
    ]


def test_a_page_of_links_keeps_them() -> None:
    assert texts(Block("- Wind\n- String", ("See also",), role="links")) == ["See also\n- Wind\n- String"]


def test_a_heading_without_text_is_above_the_next_section() -> None:
    passages = to_passages([Block("Life", role="heading"), Block(LONG, ("Youth",))], "u", "t")
    assert [(p.text, p.headings) for p in passages] == [(LONG, ("Life", "Youth"))]


def test_many_headings_without_text_are_a_list() -> None:
    names = [f"Kite number {n}" for n in range(5)]
    assert texts(*(Block(name, role="heading") for name in names)) == [
        "\n".join(f"- {name}" for name in names)
    ]


def test_long_blocks_are_split_between_sentences_evenly() -> None:
    sentences = [f"{n} {SENTENCE}" for n in range(30)]
    passages = texts(Block(" ".join(sentences)))
    assert " ".join(passages) == " ".join(sentences)
    assert all(passage.endswith(".") for passage in passages)
    assert all(60 <= len(passage.split()) <= 200 for passage in passages)


def test_the_title_counts_into_the_limit() -> None:
    block = Block(" ".join(f"{n} {SENTENCE}" for n in range(30)))
    title = "A kite is a tethered craft with wing surfaces that react against the air to create lift and drag"
    passages = to_passages([block], "u", title)
    assert max(len(p.text.split()) for p in passages) <= 200 - len(title.split())


def test_white_space_is_normalized_but_not_in_listings() -> None:
    assert texts(Block("a\u00a0 b\t c \n\n  d soft\u00adhyphen")) == ["a b c\n  d softhyphen"]
    assert texts(Block("if x:\n    y  = 1  \n\n    z", verbatim=True)) == ["if x:\n    y  = 1\n    z"]


def test_exact_duplicates_are_dropped() -> None:
    assert texts(Block(LONG), Block(LONG), Block(f"{LONG} More.")) == [LONG, f"{LONG} More."]


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
                    f"w{number}" + "x" * chance.choice([0, 0, 4, 30]) + chance.choice(["", "", ",", "."])
                )
                number += 1
            text = "".join(word + chance.choice([" ", " ", "  ", "\n"]) for word in words)
            blocks.append(Block(text, ("A",), chance.random() < 0.2))
        most = chance.choice([20, 60, 200])
        passages = to_passages(blocks, "u", "t", least=10, most=most)
        found = [word for p in passages for word in p.text.split()]
        assert [word for word in found if word != "A"] == [
            word for block in blocks for word in block.text.split()
        ]
        assert all(0 < len(p.text.split()) <= most + 1 for p in passages)
        assert len({p.id for p in passages}) == len(passages)


def test_text_without_spaces_or_sentences_is_still_cut() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(2500))
    passages = texts(Block(text))
    assert "".join(passages) == text
    assert max(map(len, passages)) <= 200


def test_sentences_without_spaces_between_them_stay_so() -> None:
    text = "".join(f"风筝起源于中国第{n}次最早用于军事通信。" for n in range(20))
    assert "".join(texts(Block(text))) == text
