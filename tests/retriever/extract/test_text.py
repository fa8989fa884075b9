"""Plain text files."""

from __future__ import annotations

from citewell.retriever.extract.text import read_text


def texts(source: str) -> list[str]:
    return [block.text for block in read_text(source.encode()).blocks]


def test_wrapped_prose_becomes_one_line() -> None:
    source = (
        "A kite is a tethered craft with wing surfaces that react\r\n"
        "against the air to create lift and drag. It consists of\r\n"
        "wings, tethers and anchors.\r\n"
        "  \r\n"
        "A second paragraph.\r\n"
    )
    assert texts(source) == [
        "A kite is a tethered craft with wing surfaces that react against the air to create lift and "
        "drag. It consists of wings, tethers and anchors.",
        "A second paragraph.",
    ]


def test_a_line_of_other_spaces_is_blank() -> None:
    for space in ("\u00a0", "\u3000"):
        source = f"{space}\nShopping list for the trip\n{space}\nBring the blue tent and the stove.\n"
        found = [text.strip() for text in texts(source)]
        assert found == ["Shopping list for the trip", "Bring the blue tent and the stove."]


def test_lists_verse_and_tables_keep_their_lines() -> None:
    source = "Name      Wind\nDelta     6\n  Box     15\n\n- one\n- two, which is longer than the others"
    assert texts(source) == [
        "Name | Wind\nDelta | 6\nBox | 15",
        "- one\n- two, which is longer than the others",
    ]


def test_an_empty_cell_moves_no_other() -> None:
    rota = (
        "Day   Kitchen     Garden       Bath\n"
        "Mon   Ines Berg                Tom Ek\n"
        "Tue               Jonas Berg   Ines Ek"
    )
    assert texts(rota) == [
        "Day | Kitchen | Garden | Bath\nMon | Ines Berg |  | Tom Ek\nTue |  | Jonas Berg | Ines Ek"
    ]
    uneven = "Soup of the day      4\nA very long dish with a long name   12\nTea   2"
    assert texts(uneven) == ["Soup of the day | 4\nA very long dish with a long name | 12\nTea | 2"]


def test_messages_keep_their_lines_though_they_are_about_as_long() -> None:
    chat = (
        "[2026-03-02 09:14] anna: did the invoice from Lumen go out?\n"
        "[2026-03-02 09:15] ben: yes, on friday, 1,240 euros in all\n"
        "[2026-03-02 09:21] anna: great. who takes the sunday shift?"
    )
    assert texts(chat) == [chat]
    named = "Anna: Did the invoice from Lumen go out today?\nBen Lee: Yes, on Friday, 1,240 euros in all."
    assert texts(named) == [named]


def test_entries_keep_their_lines_where_the_next_word_would_have_fit() -> None:
    glossary = (
        "SLA - service level agreement, the promise of how fast we answer\n"
        "P1 - a fault that stops everybody; we answer within 15 minutes\n"
        "RCA - root cause analysis, written after each P1 by the engineer on call"
    )
    assert texts(glossary) == [glossary]


def test_chinese_lines_are_joined_without_a_space() -> None:
    line = "风筝起源于中国最早用于军事通信后来它成为民间的游戏流传到世界各地至今仍然深受人们喜爱每年春天都有"
    assert texts(f"{line}\n{line}\n很多人。") == [f"{line}{line}很多人。"]
