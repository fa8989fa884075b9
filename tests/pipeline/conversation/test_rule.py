"""A follow-up question takes the subject of the turns before it, where no language model rewrites it."""

from __future__ import annotations

import pytest

from citewell.core.types import Turn
from citewell.pipeline.conversation.rule import complete


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("How long is the Nile?", "Where does it end?", "Where does the Nile end?"),
        ("How long is the Nile?", "And the Amazon?", "How long is the Amazon?"),
        ("How long is the Nile?", "What about the Amazon?", "How long is the Amazon?"),
        ("How do bats find their way in the dark?", "What do they send out?", "What do bats send out?"),
        ("How do polar bears hunt?", "Where do they live?", "Where do polar bears live?"),
        ("Why is the sky blue?", "And why is it red at sunset?", "And why is the sky red at sunset?"),
        ("What causes the tides?", "How often do they happen?", "How often do the tides happen?"),
        ("When was the Eiffel Tower built?", "How tall is it?", "How tall is the Eiffel Tower?"),
        ("What is RBAC?", "Can you list its policies?", "Can you list RBAC's policies?"),
        ("How do I add a collection to the service?", "Can I remove it?", "Can I remove a collection?"),
        ("What is the capital of Peru?", "How many people live there?", "How many people live there? (Peru)"),
        (
            "What is photosynthesis?",
            "Where in a leaf does it happen?",
            "Where in a leaf does photosynthesis happen?",
        ),
        ("How does Citewell check a citation?", "Can I turn that off?", "Can I turn that off? (Citewell)"),
        ("What do bears eat?", "And in winter?", "What do bears eat in winter?"),
        ("What do bears eat in summer?", "What about in winter?", "What do bears eat in winter?"),
        ("Who rowed in the boat race?", "And without oars?", "Who rowed in the boat race without oars?"),
        ("Can I turn off the light?", "What about the radio?", "Can I turn off the radio?"),
        ("Which metals are magnetic?", "Why?", "Why? (metals)"),
        ("How do bats find their way?", "Can humans hear them?", "Can humans hear bats?"),
        ("How do bats find their way?", "How big are their wings?", "How big are bats' wings?"),
    ],
)
def test_pronouns_and_ellipses_take_the_last_subject(before: str, question: str, expected: str) -> None:
    assert complete(question, [Turn(before)]) == expected


@pytest.mark.parametrize(
    "question",
    [
        "How far is Paris from Rome?",
        "How long does it take to travel from Paris to Rome?",
        "Is it true that Mars has two moons?",
        "If I borrow money, can I spend it?",
        "Why does a cat wash its face?",
        "What is an atom?",
        "Are there lakes on Titan?",
    ],
)
def test_a_question_that_names_its_subject_stays(question: str) -> None:
    assert complete(question, [Turn("How long is the Nile?")]) == question


def test_a_person_may_come_from_the_answer() -> None:
    turns = [Turn("Who wrote Hamlet?", "Hamlet was written by William Shakespeare around 1600.")]
    assert complete("When was he born?", turns) == "When was William Shakespeare born?"
    asked = [Turn("Who was Ada Lovelace?", "Charles Babbage was a friend of Ada Lovelace.")]
    assert complete("When was she born?", asked) == "When was Ada Lovelace born?"


def test_the_subject_lasts_over_turns_that_only_take_it_up() -> None:
    turns = [Turn("How long is the Nile?"), Turn("Thank you!"), Turn("Where does it end?")]
    assert complete("Which animals live in it?", turns) == "Which animals live in the Nile?"


def test_without_turns_a_question_stays() -> None:
    assert complete("Where does it end?", []) == "Where does it end?"


@pytest.mark.parametrize(
    "question",
    [
        "How do bees raise their young?",
        "Why do people lose their hair?",
        "Why do cats purr when they sleep?",
        "What time is it in Tokyo?",
        "How often does it rain in Tokyo?",
        "Where does it hurt when you have appendicitis?",
        "What is it like to be a dog?",
        "What is IT security?",
        "Who directed It Follows?",
    ],
)
def test_a_pronoun_of_the_question_itself_stays(question: str) -> None:
    assert complete(question, [Turn("How do bats find their way in the dark?")]) == question
