"""The sentences that a local model reads: the relevant ones, in order, within a number of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from citewell.core.relevance import RememberedRelevance
from citewell.core.types import Reference
from citewell.generator.extractive import Split
from citewell.generator.focus import focused, shortened

BATS = Reference(
    1, "https://a.example/", "Bats", "Bats sleep all day. Bats hunt by echolocation. Some eat fruit.", 0.9
)
CAVES = Reference(2, "https://b.example/", "Caves", "Caves are dark. Echolocation works there.", 0.8)


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Prefer texts that have the last word of the question, then shorter ones."""
    wanted = question.strip("?").split()[-1]
    return np.array([float(wanted in text) - len(text) / 1000 for text in texts], dtype=np.float32)


def whole(question: str) -> list[str]:
    """Ask for a question at once."""
    return [question]


def texts(question: str, most_words: int, split: Split = whole) -> dict[int, str]:
    """Return the texts that are read of both references, by number."""
    found = focused(question, [BATS, CAVES], relevance, most_words, split)
    assert all(each.title in ("Bats", "Caves") for each in found)
    return {each.number: each.text for each in found}


def test_only_sentences_nearly_as_relevant_as_the_best_one_are_read() -> None:
    assert texts("What is echolocation?", 100) == {1: "… Bats hunt by echolocation."}
    assert texts("What do they eat?", 100) == {1: "… Some eat fruit."}


def test_relevant_sentences_stay_in_order_and_gaps_are_marked() -> None:
    assert texts("Who are they?", 100) == {
        1: "Bats sleep all day. Bats hunt by echolocation. Some eat fruit.",
        2: "Caves are dark. Echolocation works there.",
    }
    assert texts("Who are they?", 9) == {
        1: "… Some eat fruit.",
        2: "Caves are dark. Echolocation works there.",
    }


def test_the_best_sentence_is_read_however_long_it_is() -> None:
    assert texts("What is echolocation?", 1) == {1: "… Bats hunt by echolocation."}


def test_what_follows_a_question_is_read_with_it() -> None:
    text = "The clock is old. People ask why a clock stops. In most cases it is dirt. The hut is green."
    (found,) = focused("Who knows why a clock stops?", [replace(BATS, text=text)], relevance, 100, whole)
    assert found.text == "… People ask why a clock stops. In most cases it is dirt."


def test_only_the_rows_and_the_section_that_a_question_names_are_read() -> None:
    def alike(_: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones(len(texts), dtype=np.float32)

    table = replace(BATS, text="Code | Cause | Remedy\nE01 | no flame | clean\nE04 | hot gas | brush")
    (found,) = focused("What does E04 mean?", [table], alike, 100, whole)
    assert found.text == "… Code: E04; Cause: hot gas; Remedy: brush."
    versions = [replace(BATS, headings=(number,)) for number in ("3.0.0", "3.1.0")]
    assert focused("What changed in 3.1.0?", versions, alike, 100, whole) == [versions[1]]


def test_the_aim_of_a_study_is_read_only_where_it_is_asked_for() -> None:
    study = replace(BATS, text="We examined whether bats use echolocation. They do.")
    for question, read in (("Do bats use echolocation?", "… They do."), ("What was examined?", study.text)):
        (found,) = focused(question, [study], lambda _, of: np.ones(len(of), np.float32), 100, whole)
        assert found.text == read
    alone = replace(BATS, text="We examined whether bats use echolocation.")
    assert focused("Do bats use echolocation?", [alone], relevance, 100, whole) == [alone]


def test_each_part_of_a_question_has_its_sentences() -> None:
    def parts(question: str) -> list[str]:
        return ["What is dark?", "What do they eat?"]

    assert texts("What is dark, and what do they eat?", 1, parts) == {
        1: "… Some eat fruit.",
        2: "Caves are dark.",
    }


def test_the_title_tells_what_a_sentence_is_about() -> None:
    bats, caves = (
        Reference(n, "", title, "They rest. They echo.", 0.5) for n, title in ((1, "Bats"), (2, "Caves"))
    )

    def on_caves(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array(["Caves" in text for text in texts], np.float32)

    found = focused("What are caves?", [bats, caves], on_caves, 6, whole)
    assert [(each.number, each.text) for each in found] == [(2, "They rest. They echo.")]


def test_a_reference_without_a_sentence_is_left_out() -> None:
    empty = Reference(3, "https://c.example/", "", "", 0.1)
    assert focused("How?", [empty], relevance, 1, whole) == []


def test_each_reference_keeps_its_best_sentence_where_all_are_shortened() -> None:
    empty = Reference(3, "https://c.example/", "", "", 0.1)
    found = shortened("What is echolocation?", [BATS, CAVES, empty], relevance, 1)
    assert [each.text for each in found] == ["… Bats hunt by echolocation.", "Caves are dark.", ""]
    bats, caves, _ = shortened("What is echolocation?", [BATS, CAVES, empty], relevance, 11)
    assert (bats.text, caves.text) == ("… Bats hunt by echolocation. Some eat fruit.", "Caves are dark.")


def test_short_references_stay_whole_where_all_are_shortened() -> None:
    lines = replace(BATS, text="Bats sleep all day.\nThey hunt at night.")
    assert shortened("How do bats hunt?", [lines, CAVES], relevance, 100) == [lines, CAVES]


def test_the_same_sentences_are_scored_once() -> None:
    asked: list[str] = []

    def counted(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return relevance(question, texts)

    remembered = RememberedRelevance(counted)
    first = remembered("How?", ["a", "b", "a"])
    assert remembered("How?", ["b", "c"]).tolist() == relevance("How?", ["b", "c"]).tolist()
    assert (first.shape, asked) == ((3,), ["a", "b", "c"])
    remembered("Why?", ["a"])
    assert asked == ["a", "b", "c", "a"]
