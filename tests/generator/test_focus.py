"""The sentences that a local model reads: the relevant ones, in order, within a number of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from citewell.core.relevance import RememberedRelevance
from citewell.core.types import Reference
from citewell.generator.focus import focused

BATS = Reference(
    1, "https://a.example/", "Bats", "Bats sleep all day. Bats hunt by echolocation. Some eat fruit.", 0.9
)
CAVES = Reference(2, "https://b.example/", "Caves", "Caves are dark. Echolocation works there.", 0.8)


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Prefer texts about echolocation, then shorter ones."""
    return np.array([float("cholocation" in text) - len(text) / 1000 for text in texts], dtype=np.float32)


def test_short_references_stay_whole() -> None:
    lines = replace(BATS, text="Bats sleep all day.\nThey hunt at night.")
    assert focused("How do bats hunt?", [lines, CAVES], relevance, 100) == [lines, CAVES]


def test_relevant_sentences_stay_in_order_and_gaps_are_marked() -> None:
    bats, caves = focused("How do bats hunt?", [BATS, CAVES], relevance, 11)
    assert bats.text == "… Bats hunt by echolocation. Some eat fruit."
    assert caves.text == "… Echolocation works there."
    assert (bats.number, bats.title) == (1, "Bats")


def test_each_reference_keeps_its_best_sentence() -> None:
    texts = [reference.text for reference in focused("How?", [BATS, CAVES], relevance, 1)]
    assert texts == ["… Bats hunt by echolocation.", "… Echolocation works there."]


def test_the_title_tells_what_a_sentence_is_about() -> None:
    bats, caves = (
        Reference(n, "", title, "They rest. They echo.", 0.5) for n, title in ((1, "Bats"), (2, "Caves"))
    )

    def on_caves(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array(["Caves" in text for text in texts], np.float32)

    found = focused("What are caves?", [bats, caves], on_caves, 6)
    assert [reference.text for reference in found] == ["They rest.", "They rest. They echo."]


def test_a_reference_without_a_sentence_stays_empty() -> None:
    empty = Reference(3, "https://c.example/", "", "", 0.1)
    assert focused("How?", [BATS, empty], relevance, 1)[1] == empty


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
