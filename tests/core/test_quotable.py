"""What can be quoted: sentences, whole items of lists, and rows of tables with the names of their columns."""

from __future__ import annotations

import pytest

from citewell.core.quotable import listed, named_rows, pieces, quotable


def quoted(passage: str) -> list[str]:
    return [piece.text for piece in quotable(passage)]


def test_sentences_of_a_line_are_apart() -> None:
    assert quoted("The printer is new. It has a fixed address.") == [
        "The printer is new.",
        "It has a fixed address.",
    ]


def test_a_short_item_stays_whole() -> None:
    assert quoted(
        "- A Time of Gifts, Patrick Leigh Fermor. Lent to Samira.\n* copper tape keeps slugs off"
    ) == [
        "A Time of Gifts, Patrick Leigh Fermor. Lent to Samira.",
        "Copper tape keeps slugs off.",
    ]


def test_items_below_a_line_that_denies_keep_it() -> None:
    assert quoted("Never\n- open above 120 °C\n- put plaster in the bin\nAlways\n- wear gloves") == [
        "Never",
        "Never: open above 120 °C.",
        "Never: put plaster in the bin.",
        "Always",
        "Wear gloves.",
    ]
    after = "It does not rain in July.\n- bring a hat"
    assert quoted(after) == ["It does not rain in July.", "Bring a hat."]


def test_items_below_a_line_that_announces_them_keep_its_last_sentence() -> None:
    listed = "Much was learned. Other discoveries include:\n\n- a test for insulin\n1) The pump."
    assert quoted(listed)[-2:] == [
        "Other discoveries include: a test for insulin.",
        "Other discoveries include: The pump.",
    ]


def test_items_of_a_list_make_one_sentence_with_their_lead_once() -> None:
    _, *items = quotable("The sauna is open on:\n- Mondays\n- Fridays: women only\n- New Year's Eve!")
    assert listed(items) == "The sauna is open on: Mondays; Fridays: women only; New Year's Eve!"


@pytest.mark.parametrize(
    "above",
    [
        "They are:",
        "Red kites",
        f"Of {'many ' * 20}these are some:",
        ":",
        "The following is a brief summary of what was found:",
    ],
)
def test_items_below_other_lines_stand_alone(above: str) -> None:
    assert quoted(f"{above}\n- a test for insulin")[-1] == "A test for insulin."


def test_items_below_a_line_that_denies_keep_it_though_it_points_back() -> None:
    assert quoted("These are not allowed:\n- open fires")[-1] == "These are not allowed: open fires."


def test_a_wider_table_below_another_has_its_own_columns() -> None:
    ours = "row | read | good\nraw | 102 | 33\njudged | 57 | 27"
    theirs = "paper | fluent | correct | true\nnone | 2.8 | 2.6 | 2.4\nfiltered | 2.9 | 2.7 | 2.5"
    assert quoted(f"{ours}\n{theirs}") == [*quoted(ours), *quoted(theirs)]
    assert quoted(theirs)[0] == "Paper: none; fluent: 2.8; correct: 2.6; true: 2.4."


def test_rows_with_more_cells_than_their_header_stay_below_it() -> None:
    spanned = "name | size\nA | 1 | 2\nB | 3 | 4"
    assert quoted(spanned) == ["Name: A; size: 1; 2.", "Name: B; size: 3; 4."]


def test_indented_lines_belong_to_the_item_above() -> None:
    assert quoted("- cone 06\n  999 °C, for bisque\n- Mix well.\n  Rest for an hour.\n  - not longer") == [
        "Cone 06: 999 °C, for bisque.",
        "Mix well. Rest for an hour.",
        "Not longer.",
    ]


def test_an_item_ends_with_a_stop_in_place_of_a_comma() -> None:
    assert quoted("- soap,\n- towels;") == ["Soap.", "Towels."]


def test_a_long_item_is_quoted_by_its_sentences() -> None:
    first = f"It opened {'late ' * 40}today."
    assert quoted(f"- {first} It closed again.") == [f"- {first}", "It closed again."]


def test_notes_without_capitals_get_them_and_stops() -> None:
    notes = "the wifi password is bluebird42. restart it if its lights are orange\nbins go out on tuesday"
    assert quoted(notes) == [
        "The wifi password is bluebird42.",
        "Restart it if its lights are orange.",
        "Bins go out on tuesday.",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "citewell index ~/notes --collection notes\ncitewell ask question --collection notes",
        "for line in lines:\n    print(line)\n    total += len(line)",
        "Notes on the house\ncut in the middle of a page",
    ],
)
def test_commands_code_and_cut_lines_stay_as_they_are(lines: str) -> None:
    assert quoted(lines) == [line.strip() for line in lines.splitlines()]


def test_a_message_is_one_piece_with_its_time() -> None:
    chat = (
        "[2026-03-02 09:14] anna: did the invoice go out?\n"
        "[2026-03-02 09:15] ben: yes. it was 1,240 euros\n"
        "2/3/26, 9:21 PM - Anna: Thanks!\n"
        "12:30 lunch in the canteen\n"
        "2026-03-09 filter changed"
    )
    assert quoted(chat) == [
        "2026-03-02 09:14 anna: did the invoice go out?",
        "2026-03-02 09:15 ben: yes. it was 1,240 euros.",
        "2/3/26, 9:21 PM Anna: Thanks!",
        "12:30 lunch in the canteen.",
        "2026-03-09 filter changed.",
    ]


def test_a_message_may_lack_the_year_and_the_mark_of_its_question() -> None:
    chat = "[03/05, 18:11] Greta: ok I'll let him in. what was the error again\n[03/05, 18:12] Ines: it's E9"
    assert quoted(chat) == [
        "03/05, 18:11 Greta: ok I'll let him in. what was the error again?",
        "03/05, 18:12 Ines: it's E9.",
    ]


@pytest.mark.parametrize(
    "line", ["when it rains", "what a day", "- how to reset the pump", "we took the bus, which was late"]
)
def test_not_each_question_word_asks(line: str) -> None:
    assert "?" not in "".join(quoted(f"{line}\nit was late\nwe went home"))


def test_labeled_lines_are_pieces_of_their_own() -> None:
    minutes = (
        "Present: Ines and Petra. Apologies: Jo\nNext meeting: 1 December, at Petra's\nAOB - first aid course"
    )
    assert quoted(minutes)[-2:] == ["Next meeting: 1 December, at Petra's.", "AOB - first aid course."]
    alone = "The lost temple: a story of the sea"  # may be a heading
    assert quoted(alone) == [alone]
    caption = "Figure 1: the harbor in 1900\nMap: the harbor and its roads today"
    assert quoted(caption) == caption.splitlines()


def test_an_answer_is_quoted_without_its_mark() -> None:
    assert quoted("Q: Is breakfast included?\nA: No. It costs 7 euros.") == [
        "Q: Is breakfast included?",
        "No. It costs 7 euros.",
    ]
    assert quoted("A: red paint\nB: blue paint") == ["A: red paint.", "B: blue paint."]


@pytest.mark.parametrize("name", ["encoder_kl", "mRNA", "e5-small", "docs/guide/index.html", "fetch.key"])
def test_a_name_in_lower_case_keeps_it(name: str) -> None:
    assert pieces(f"It depends.\n{name} is copied first.") == ["It depends.", f"{name} is copied first."]


@pytest.mark.parametrize("beginning", ["e.g. bread", "a.m. trains", "and/or bread"])
def test_other_words_get_a_capital(beginning: str) -> None:
    assert pieces(f"It depends.\n{beginning} may be late.")[1][0].isupper()


def test_a_line_may_begin_without_a_capital_after_a_whole_one() -> None:
    mail = "Hi all,\nthe fitters come on Thursday at 7.\nBest wishes from the hall"
    assert quoted(mail)[1] == "The fitters come on Thursday at 7."


@pytest.mark.parametrize("line", ["3.2 Scope of the rules", "1.5 kg of flour", "4.1.2 What is new"])
def test_other_numbers_begin_no_message(line: str) -> None:
    assert quoted(line) == [line]


def test_a_row_names_its_columns() -> None:
    table = "Name | Voice | Role\nBertil Langley | Bass | Librarian\nNiamh Corder | Alto |"
    assert quoted(table) == [
        "Name: Bertil Langley; Voice: Bass; Role: Librarian.",
        "Name: Niamh Corder; Voice: Alto.",
    ]


def test_the_first_of_two_columns_names_the_second() -> None:
    assert quoted("Puncture repair | £9\nBottom bracket | £35") == [
        "Puncture repair: £9.",
        "Bottom bracket: £35.",
    ]


def test_a_first_row_with_amounts_names_no_columns() -> None:
    assert quoted("Two flues | 2 x 45.00 | 90.00\nBird guard | 1 x 32.50 | 32.50\nCall-out | 15.00") == [
        "Two flues; 2 x 45.00; 90.00.",
        "Bird guard; 1 x 32.50; 32.50.",
        "Call-out: 15.00.",
    ]
    assert quoted("Town | 2023 | 2024\nOrrington | 1,204 | 1,198") == [
        "Town: Orrington; 2023: 1,204; 2024: 1,198."
    ]


@pytest.mark.parametrize("header", ["Item | Weight in grams", "| Item | Weight in grams |"])
def test_a_header_of_two_columns_is_no_row(header: str) -> None:
    table = f"{header}\nlife jacket | 900\ntorch | 250\nrope | long"
    assert quoted(table) == ["Life jacket: 900.", "Torch: 250.", "Rope: long."]
    assert pieces(table)[0] == "Item: Weight in grams."  # which a model may need


@pytest.mark.parametrize("column", ["what it allows", "Meaning"])
def test_a_header_of_explanations_is_no_row(column: str) -> None:
    assert quoted(f"Scope | {column}\nask | ask questions") == ["Ask: ask questions."]


def test_the_first_row_of_two_columns_of_words_may_be_no_header() -> None:
    table = "Capital | Paris\nCurrency | Euro\nFounded | 843"
    assert quoted(table)[0] == "Capital: Paris."


def test_each_table_has_columns_of_its_own() -> None:
    tables = "Name | Voice | Town\nAda | Alto | Orrington\nThen prices.\nJob | Price | Days\nWheel | £20 | 2"
    assert quoted(tables) == [
        "Name: Ada; Voice: Alto; Town: Orrington.",
        "Then prices.",
        "Job: Wheel; Price: £20; Days: 2.",
    ]


def test_a_command_with_a_pipe_stays_as_it_is() -> None:
    assert named_rows("Run:\ncat names | sort\nThat is all.") == "Run:\ncat names | sort\nThat is all."


def test_commands_and_programs_are_no_tables() -> None:
    for code in ("cat names | sort -u\ncat towns | uniq", "name: str | None = None\nage: int | None = None"):
        assert named_rows(code) == code


def test_a_table_between_lines_is_read_with_its_columns() -> None:
    passage = "Members:\nName | Voice | Joined\nMaribel Tuck | Soprano | 2007\n- They sing. On Mondays."
    assert named_rows(passage) == (
        "Members:\nName: Maribel Tuck; Voice: Soprano; Joined: 2007.\n- They sing. On Mondays."
    )
