"""The sentences of a passage that a judge of a claim reads."""

from __future__ import annotations

from citewell.generator.citations.covering import covering

CANAL = (
    "The Suez Canal joins the Mediterranean and the Red Sea. It opened on 17 November 1869 after ten years "
    "of work. Nobody swims there. In 1975 it was cleared of mines and ships passed again. Fish came too."
)


def test_sentences_that_share_no_further_words_are_left_out() -> None:
    assert covering(CANAL, "Nobody may swim there", 200) == "Nobody swims there."
    assert covering(CANAL, "Nobody swims among the mines", 200) == (
        "Nobody swims there. In 1975 it was cleared of mines and ships passed again."
    )


def test_a_sentence_that_points_back_follows_the_one_before_it() -> None:
    assert covering(CANAL, "It opened in November 1869", 200) == (
        "The Suez Canal joins the Mediterranean and the Red Sea. "
        "It opened on 17 November 1869 after ten years of work."
    )


def test_a_gap_is_shown() -> None:
    assert " … Fish came too." in covering(CANAL, "Fish came to the Suez Canal", 200)


def test_rows_have_the_names_of_their_columns() -> None:
    table = "Name | Age | Town\nAda | 36 | London\nAlan | 41 | Wilmslow"
    assert covering(table, "Alan is 41", 200) == "Name: Alan; Age: 41; Town: Wilmslow."


def test_a_window_is_shown_where_no_word_is_found_or_too_many_sentences_have_them() -> None:
    assert covering(CANAL, "Zebras graze", 12) == "The Suez Canal joins the Mediterranean and the Red Sea."
    claim = "Ships passed the Suez Canal after ten years of mines"
    assert len(covering(CANAL, claim, 200).split()) > 24 >= len(covering(CANAL, claim, 24).split())


def test_an_aim_is_evidence_only_where_it_is_asked_for() -> None:
    aim = "The aim of the study was to assess whether the balloon changes survival."
    found = "Survival did not differ between the groups."
    assert covering(f"{aim} {found}", "The balloon changes survival", 200) == found
    assert covering(aim, "The balloon changes survival", 200) == aim
    assert covering(f"{aim} {found}", aim, 200, "What was the aim of the study?").startswith(aim)


def test_an_empty_passage_shows_nothing() -> None:
    assert covering("", "Anything", 200) == ""
