"""The rules that choose quotations, each alone: the scores are given, so that only the rule decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.core.relevance import Relevance
from citewell.core.types import Reference
from citewell.generator.citations.marks import read_marks
from citewell.generator.extractive import ExtractiveGenerator
from citewell.retriever.parts import parts

NINETY = f"The sky is blue because air scatters {'blue ' * 82}light."  # words
FULL = "Air scatters blue light more than red light."


def scored(**scores: float) -> Relevance:
    """Score texts by a word that they hold, and all others .5."""

    def relevance(_: str, texts: Sequence[str]) -> NDArray[np.float32]:
        found = [[score for word, score in scores.items() if word in text] for text in texts]
        return np.array([max(each, default=0.5) for each in found], np.float32)

    return relevance


def reference(number: int, text: str, score: float = 0.7, title: str = "") -> Reference:
    return Reference(number, f"https://example.org/{number}", title, text, score)


async def quoted(
    *references: Reference, relevance: Relevance | None = None, question: str = "Why?", most: int = 20
) -> list[tuple[str, int]]:
    generator = ExtractiveGenerator(relevance or scored(), sentences=most, split=parts)
    text = "".join([token.text async for token in generator.generate(question, references, 1)])
    return [(sentence.text, sentence.marks[0]) for sentence in read_marks(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Why is the sky blue?",
        "The child asked, “Why is the sky blue?”",
        "The Blue of the Sky.",
        "We examined whether air scatters blue light.",
        "Grant of Patent License.",
        "Blue sky here.",
        "(The sky is blue because of its air.)",
        "sky is blue because it is cut in the middle.",
        "The sky is blue because it is cut",
        "The colors of the sky are as follows.",
        "The colors of the sky are listed below.",
        "The causes of the blue sky are the following ones.",
        "However, the air scatters blue light.",
        "Both of them scatter blue light.",
        "In 1871 he explained why the sky is blue.",
        "Because of this the sky is blue.",
        NINETY.replace("sky", "bright sky"),
    ],
)
async def test_what_cannot_stand_alone_is_not_quoted(text: str) -> None:
    assert await quoted(reference(1, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Air scatters blue light.",
        "The sky is blue!",
        "Rayleigh wrote: “The sky is blue because of its air.”",
        "The sky is blue (by day, that is).",
        "“Air scatters blue light,” wrote Rayleigh.",
        "1871 was the year of the explanation.",
        "mRNA is copied from a gene.",
        NINETY,
    ],
)
async def test_whole_sentences_are_quoted(text: str) -> None:
    assert await quoted(reference(1, text)) == [(text, 1)]


async def test_a_line_without_a_stop_is_not_joined_to_the_next() -> None:
    assert await quoted(reference(1, f"The color of the sky\n{FULL}")) == [(FULL, 1)]


async def test_only_the_sentence_after_a_question_is_scored_as_its_answer() -> None:
    text = "Why is the sky blue? Air scatters short waves. Lamps burn oil at night."
    found = await quoted(reference(1, text), relevance=scored(sky=0.9, Air=0.1, Lamps=0.1))
    assert found == [("Air scatters short waves.", 1)]


async def test_a_question_is_not_answered_by_the_next_reference() -> None:
    pool = [reference(1, f"{FULL} Why is the sky blue?"), reference(2, "Lamps burn oil at night.")]
    assert await quoted(*pool, relevance=scored(sky=0.9, Air=0.8, Lamps=0.1)) == [(FULL, 1)]


async def test_sentences_of_a_reference_that_fits_less_are_left_out() -> None:
    pool = [
        reference(1, "Air scatters blue light.", 0.9),
        reference(2, "Water absorbs red rays.", 0.8),
        reference(3, "Lamps burn whale oil.", 0.2),
    ]
    assert [number for _, number in await quoted(*pool)] == [1, 2]


async def test_the_reference_with_the_best_sentence_comes_first() -> None:
    pool = [reference(1, "Water absorbs red rays."), reference(2, "Air scatters blue light.")]
    assert [number for _, number in await quoted(*pool, relevance=scored(Air=0.6))] == [2, 1]


@pytest.mark.parametrize(
    ("second", "is_repetition"),
    [
        ("Air scatters blue light more than red, as Lord Rayleigh wrote in a letter of 1871.", True),
        ("Air scatters few waves of sound.", False),
    ],
)
async def test_a_sentence_with_most_words_of_another_is_a_repetition(
    second: str, is_repetition: bool
) -> None:
    for pool in ([FULL, second], [second, FULL]):
        found = await quoted(*(reference(number, text) for number, text in enumerate(pool, 1)))
        assert len(found) == (1 if is_repetition else 2)


@pytest.mark.parametrize(
    "second",
    [
        "However, scientists found no such pits.",
        "This belief is wrong.",
        "The old claim has no grounds.",
        "In fact, pits are left by knives.",
        "It is not true, and was a myth.",
    ],
)
async def test_a_claim_is_not_quoted_without_what_takes_it_back(second: str) -> None:
    claim, later = "Snails leave deep pits in rock.", "Lamps burn oil at night."
    found = await quoted(reference(1, f"{claim} {second} {later}"), relevance=scored(deep=0.9, Lamps=0.1))
    taken_back = "It is not" not in second
    assert [text for text, _ in found] == ([claim, second] if taken_back else [claim])
    assert await quoted(reference(1, f"{claim} {second}"), relevance=scored(deep=0.9), most=1) == (
        [] if taken_back else [(claim, 1)]
    )


async def test_the_title_counts_as_part_of_each_sentence() -> None:
    pool = [
        reference(1, "The planet has rings of dust.", title="Jupiter"),
        reference(2, "The planet has rings of ice.", title="Saturn"),
    ]
    found = await quoted(*pool, relevance=scored(Saturn=0.9))
    assert found == [("The planet has rings of ice.", 2)]


METALS = [
    reference(1, "Caesium is a soft metal. Caesium melts in the hand. Caesium glows in clocks."),
    reference(2, "Iron is a hard element. Iron rusts in wet air. Iron bends when it glows."),
]
COMPARED = "Compare Caesium and Iron"


def on_part(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([question in text for text in texts], np.float32)


@pytest.mark.parametrize(("most", "numbers"), [(1, [1]), (2, [1, 2]), (4, [1, 1, 2, 2])])
async def test_the_parts_of_a_question_share_the_sentences(most: int, numbers: list[int]) -> None:
    found = await quoted(*METALS, relevance=on_part, question=COMPARED, most=most)
    assert [number for _, number in found] == numbers


async def test_a_part_that_no_sentence_answers_gets_none() -> None:
    pool = [METALS[0], reference(2, "Lamps burn oil at night.")]
    found = await quoted(*pool, relevance=on_part, question=COMPARED)
    assert {number for _, number in found} == {1}


async def test_sentences_stand_in_the_order_of_their_reference() -> None:
    text = "Air scatters blue light. Water absorbs red rays."
    assert [sentence for sentence, _ in await quoted(reference(1, text), relevance=scored(Water=0.55))] == [
        "Air scatters blue light.",
        "Water absorbs red rays.",
    ]


async def test_an_answer_begins_with_the_sentence_that_is_clearly_best() -> None:
    text = "Air scatters blue light. Water absorbs red rays. Ice lets all colors through."
    assert [sentence for sentence, _ in await quoted(reference(1, text), relevance=scored(Water=0.6))] == [
        "Water absorbs red rays.",
        "Ice lets all colors through.",
        "Air scatters blue light.",
    ]


async def test_an_answer_to_a_quoted_question_begins_where_it_begins() -> None:
    text = "Why is it red? Water absorbs blue rays. Iron rusts in it."
    found = await quoted(reference(1, text), relevance=scored(Iron=0.7, Why=0.5))
    assert [sentence for sentence, _ in found] == ["Water absorbs blue rays.", "Iron rusts in it."]


KATRINA = "Katrina was one of the deadliest hurricanes of its country. It formed in late August."
HISTORY = "The history of Katrina, a hurricane, begins near the Bahamas."


@pytest.mark.parametrize(
    ("question", "near", "first"),
    [
        ("What is Katrina?", 0.7, 1),
        ("What is Katrina?", 0.4, 1),  # since it defines the title
        ("What is Katrina?", 0.3, 2),  # too far behind the best one
        ("When did Katrina begin?", 0.7, 2),
    ],
)
async def test_a_description_begins_with_the_lead_of_its_page(question: str, near: float, first: int) -> None:
    quotes = await quoted(
        reference(1, KATRINA, title="Katrina"),
        reference(2, HISTORY, title="History of Katrina"),
        relevance=scored(deadliest=near, history=0.85, August=0.65),
        question=question,
    )
    assert quotes[0][1] == first
    assert len(quotes) == 3


CAUSES = "A shot was fired in the harbor. The towns had quarreled over fish for years."
OTHER = "The causes of the Second Herring War were customs duties."


@pytest.mark.parametrize(
    ("question", "near", "first"),
    [
        ("What were the causes of the Herring War?", 0.4, 1),
        ("What caused the Herring War?", 0.4, 1),
        ("What caused the Herring War?", 0.3, 2),  # too far behind the best one
        ("Who won the Herring War?", 0.4, 2),
    ],
)
async def test_a_question_for_a_section_is_answered_from_its_beginning(
    question: str, near: float, first: int
) -> None:
    quotes = await quoted(
        replace(reference(1, CAUSES, title="Herring War"), headings=("Causes",)),
        reference(2, OTHER, title="Second Herring War"),
        relevance=scored(shot=near, quarreled=0.7, customs=0.85),
        question=question,
    )
    assert quotes[0][1] == first
