"""Questions that need more than one search are split, and no others."""

from __future__ import annotations

import time

import pytest

from citewell.retriever.parts import parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Compare caesium and calcium chloride", ["caesium", "calcium chloride"]),
        ("compare cats to dogs", ["cats", "dogs"]),
        ("What is the difference between weather and climate?", ["weather", "climate"]),
        ("difference between red and white blood cells", ["red blood cells", "white blood cells"]),
        ("Differences between Buddhism, Hinduism and Jainism", ["Buddhism", "Hinduism", "Jainism"]),
        ("How do alligators and crocodiles differ?", ["alligators", "crocodiles"]),
        ("How is a crater different from a caldera?", ["a crater", "a caldera"]),
        ("Tesla vs. Edison", ["Tesla", "Edison"]),
        ("What do bats and whales have in common?", ["bats", "whales"]),
        ("Compare the climate of France and Spain", ["the climate of France", "the climate of Spain"]),
        (
            "how does the temperature of Venus compare to that of Earth",
            ["the temperature of Venus", "the temperature of Earth"],
        ),
        ("Which is bigger, Jupiter or Saturn?", ["Jupiter bigger", "Saturn bigger"]),
        ("When were Newton and Leibniz born?", ["When were Newton born", "When were Leibniz born"]),
        ("the capitals of France and Spain", ["the capitals of France", "the capitals of Spain"]),
        ("Please contrast iron with steel", ["iron", "steel"]),
        ("Compare and contrast mitosis and meiosis", ["mitosis", "meiosis"]),
        ("What are the similarities between cats and dogs?", ["cats", "dogs"]),
        ("What differences are there between frogs and toads?", ["frogs", "toads"]),
        ("the differences and similarities between cats and dogs", ["cats", "dogs"]),
        ("How are cats and dogs similar?", ["cats", "dogs"]),
        ("In what ways are cats and dogs alike?", ["cats", "dogs"]),
        ("How can I tell a frog from a toad?", ["a frog", "a toad"]),
        ("iron as opposed to steel", ["iron", "steel"]),
        (
            "Compare the climate of France and the economy of Spain",
            ["the climate of France", "the economy of Spain"],
        ),
        ("Compare the planets Mars and Venus", ["Mars", "Venus"]),
        ("Compare the great composers Bach, Handel and Telemann", ["Bach", "Handel", "Telemann"]),
        ("Compare the species of Africa and Asia", ["the species of Africa", "the species of Asia"]),
        ("Compare tin, zinc, lead, iron and steel", ["tin", "zinc", "lead", "iron"]),
        ("difference between going to bed and going to sleep", ["going to bed", "going to sleep"]),
        ("What is the difference between coffee with milk and tea?", ["coffee with milk", "tea"]),
    ],
)
def test_comparisons(question: str, expected: list[str]) -> None:
    assert list(parts(question)) == expected


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("What is DNA and who discovered it?", "who discovered DNA?"),
        ("Who wrote Hamlet and when was Goethe born?", "when was Goethe born?"),
        ("Who was Marie Curie, and what did she discover?", "what did Marie Curie discover?"),
        ("When was the Eiffel Tower built and how tall is it?", "how tall is the Eiffel Tower?"),
        ("where is bile made and what does it do", "what does bile do?"),
        ("What is photosynthesis? Where does it happen?", "Where does photosynthesis happen?"),
        (
            "What is the capital of France and what is its population?",
            "what is France's population?",
        ),
        (
            "How did the industrial revolution start and when did it end?",
            "when did the industrial revolution end?",
        ),
        ("Tell me about tides and who discovered them", "who discovered tides?"),
        ("Who was Marie Curie but also what did she discover?", "what did Marie Curie discover?"),
        ("What is Hamlet and what is the plot?", "what is the plot of Hamlet?"),
        ("What is DNA and where is Paris?", "where is Paris?"),
        ("What is the color of gold and why does it shine?", "why does gold shine?"),
        (
            "Who was the inventor of dynamite and when did he die?",
            "when did the inventor of dynamite die?",
        ),
        ("In what year was Newton born and in what city did he live?", "in what city did Newton live?"),
        ("Who discovered penicillin and how does it work?", "how does penicillin work?"),
        (
            "Who was the king of France and when did he die?",
            "when did the king of France die?",
        ),
    ],
)
def test_two_questions_in_one(question: str, second: str) -> None:
    found = parts(question)
    assert len(found) == 2
    assert question.startswith(found[0].rstrip("?"))
    assert found[1] == second


@pytest.mark.parametrize(
    "question",
    [
        "How do volcanoes form?",
        "How can you tell if an avocado is ready to eat?",
        "How and why do volcanoes erupt?",
        "Who wrote Romeo and Juliet?",
        "What is the capital of Trinidad and Tobago?",
        "What is the distance from Earth to the Moon?",
        "Who was the president who freed the slaves and who was shot?",
        "Who invented the telephone and in what year?",
        "who is the creator of star vs the forces of evil",
        "Which planet has rings and when did it form?",
        "She read Faust and when was Goethe born?",
        "Compare iron and iron",
        "Compare , and iron",
        f"Compare iron and {'steel ' * 60}",
        "compare",
        "Compare and",
        "",
        "世界上最大的动物是什么？",
    ],
)
def test_a_question_without_parts_stays_as_it_is(question: str) -> None:
    assert parts(question) == (question,)


@pytest.mark.parametrize(
    "unit", ["A ", "and ", "what and ", "A and A ", "vs ", "difference between ", "of A in "]
)
def test_strange_questions_take_no_time(unit: str) -> None:
    before = time.perf_counter()
    parts(unit * 2000)
    parts((unit * 300)[:299])
    assert time.perf_counter() - before < 0.5
