"""Answers that speak of their references, which readers do not see."""

from __future__ import annotations

import pytest

from citewell.generator.citations.mentions import without_mentions, without_titles


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("Ice is blue, as mentioned in reference [1].", "Ice is blue [1]."),
        ("Ice is blue as described in the provided references. It is cold.", "Ice is blue. It is cold."),
        ("According to the references, ice is blue[1].", "Ice is blue[1]."),
        ("It is cold[1]. Based on the given reference, ice is blue[2].", "It is cold[1]. Ice is blue[2]."),
        ("As stated in the references, ice is blue.", "Ice is blue."),
    ],
)
def test_words_about_the_references_are_taken_out(written: str, left: str) -> None:
    assert without_mentions(written) == left


@pytest.mark.parametrize(
    "written",
    [
        "He was listed in the reference book of 1901[1].",
        "According to the references of the time, ice was blue[1].",
        "Ice is blue, as Tyndall mentioned in 1870[1].",
        "The dictionary gives references to older books[1].",
    ],
)
def test_other_references_stay(written: str) -> None:
    assert without_mentions(written) == written


TITLES = ("Kites", "Kites, History", "C++ (language)", "")


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("Kites: Kites are flown on a line[1].", "Kites are flown on a line[1]."),
        ("Kites, History: … They came from China[1].", "They came from China[1]."),
        ("Kites: Kites: Kites are toys.", "Kites are toys."),
        ("They fly[1]. Kites, History: They came from China[1].", "They fly[1]. They came from China[1]."),
        ("C++ (language): It is compiled[2].", "It is compiled[2]."),
        ("Kites: 3 m long[1].", "3 m long[1]."),
    ],
)
def test_copied_titles_are_taken_out(written: str, left: str) -> None:
    assert without_titles(written, TITLES) == left


@pytest.mark.parametrize(
    "written",
    [
        "Kites are flown on a line[1].",
        "Kites: a paper frame and a line[1].",
        "There are two kinds of Kites: Diamonds and boxes[1].",
        "Balloons: They are filled with gas[1].",
    ],
)
def test_titles_of_lists_and_within_sentences_stay(written: str) -> None:
    assert without_titles(written, TITLES) == written
    assert without_titles(written, ()) == written
