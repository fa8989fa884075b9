"""What a small model is shown of references: the sentences that are nearest to the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.text import words
from core.types import Reference
from generator.evidence import Focus

QUESTION = "Why is the sky blue?"


def overlap(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    wanted = set(words(question))
    return np.array([len(wanted & set(words(text))) for text in texts], dtype=np.float32)


def count(text: str) -> int:
    return len(words(text))


def references(*texts: str) -> list[Reference]:
    return [Reference(number, "https://example.org/", "", text, 0.0) for number, text in enumerate(texts, 1)]


def shown(tokens: int, *texts: str) -> list[str]:
    return [each.text for each in Focus(overlap, tokens)(QUESTION, references(*texts), count)]


def test_the_nearest_sentences_stay_in_their_references_and_order() -> None:
    found = shown(
        15,
        "Many people like to look up. The sky is blue because air scatters it. Clouds are made of water.",
        "Cats purr when they are glad. Dogs bark when they are glad.",
        "At noon the sky is deep blue.",
    )
    assert found == ["The sky is blue because air scatters it.", "", "At noon the sky is deep blue."]


def test_a_sentence_that_points_back_brings_the_one_before_it() -> None:
    text = "Short waves are scattered most. This is why the sky is blue. Rain falls now and then."
    assert shown(12, text) == ["Short waves are scattered most. This is why the sky is blue."]


def test_what_repeats_another_sentence_is_shown_once() -> None:
    found = shown(50, "The sky is blue because air scatters.", "The sky is blue because air scatters it.")
    assert sorted(found) == ["", "The sky is blue because air scatters."]


def test_nothing_is_longer_than_asked_for() -> None:
    sentences = [f"The sky is blue above place number {number}." for number in range(40)]
    assert 0 < sum(map(count, shown(20, " ".join(sentences)))) <= 20


def test_references_without_sentences_stay_whole() -> None:
    table = "blue | 450 nm\nred | 700 nm"
    assert shown(20, table) == [table]
    assert shown(20) == []
