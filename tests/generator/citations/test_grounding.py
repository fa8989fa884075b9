"""An answer rests on the sentence or row that is closest to the question, not on the next one."""

from __future__ import annotations

import pytest

from citewell.core.types import Reference
from citewell.generator.citations.grounding import (
    adds_nothing,
    affirms_another_number,
    affirms_untold,
    grounding,
    says_the_opposite,
)

CHOIR = "Name | Voice | Joined | Town\nAda Lind | Tenor | 2012 | Dunholm\nBea Marsh | Alto | 2007 | Helm"
CANAL = "It opened on 17 November 1869 after ten years of work. In 1975 it was cleared of mines."
RULES = "- Pets are not allowed in the hall.\n- Smoking is allowed on the balcony."
MANUAL = "E1: the battery is flat. Charge it.\nE2: no water came. Open the main tap, and call Ruth or 555."
REFERENCES = [
    Reference(1, "https://example.org/1", "The choir", CHOIR, 0.5),
    Reference(2, "https://example.org/2", "Suez Canal", CANAL, 0.5),
    Reference(3, "https://example.org/3", "The hall", RULES, 0.5),
    Reference(4, "https://example.org/4", "The manual", MANUAL, 0.5),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who will write the report?", "William will write the report."),
        ("What measures temperature?", "A thermometer measures temperature."),
        ("What hurts?", "The shoulder hurts."),
    ],
)
def test_a_word_that_begins_like_a_stop_word_tells_something(question: str, answer: str) -> None:
    assert not adds_nothing(question, answer)
    told = [Reference(1, "https://example.org/1", "Notes", f"Nothing is known. {answer}", 0.5)]
    other = [Reference(1, "https://example.org/1", "Notes", f"Nothing is known. {question}", 0.5)]
    assert grounding(question, answer, told) is told[0]
    assert grounding(question, answer, other) is None


@pytest.mark.parametrize(
    ("question", "answer", "number"),
    [
        ("Where does Ada Lind live?", "Ada Lind lives in Dunholm.", 1),
        ("Where does Ada Lind live?", "Ada Lind lives in Helm.", None),  # the next row
        ("Since when has Bea been with us?", "Bea has been with us since 2007.", 1),
        ("Since when has Bea been with us?", "Bea has been with us since 2012.", None),
        ("When did the Suez Canal open?", "The Suez Canal opened in November 1869.", 2),
        ("When did the Suez Canal open?", "The Suez Canal opened in 1975.", None),
        ("When did the Suez Canal open?", "The Suez Canal opened with fireworks.", None),  # of no sentence
        ("When did the Suez Canal open?", "It opened when mines were cleared.", None),  # the next sentence
        ("How long was the work before it opened?", "It opened after 10 years of work.", 2),  # in words
        ("Are pets allowed in the hall?", "No, pets are not allowed in the hall.", 3),
        ("Is smoking allowed on the balcony?", "Yes, smoking is allowed on the balcony.", 3),
        ("Is smoking allowed on the balcony?", "No, smoking is not allowed on the balcony.", None),
        ("Are pets allowed in the hall?", "Pets are allowed in the hall.", None),  # adds nothing
        ("May my pet come into the hall?", "No pets are allowed in the hall.", 3),  # not plural
        ("What should I do about E2?", "You should open the main tap.", 4),  # the sentence beside it
        ("What should I do about E2?", "You should charge the battery.", None),  # the next line
        ("Whom do I phone about E2?", "You phone Ruth about E2.", None),  # a name of another sentence
        ("Which number is for E2?", "The number for E2 is 555.", None),
        ("What do zebras eat?", "Zebras eat grass.", None),
    ],
)
def test_the_reference_that_an_answer_rests_on(question: str, answer: str, number: int | None) -> None:
    found = grounding(question, answer, REFERENCES)
    assert (found and found.number) == number


@pytest.mark.parametrize(
    ("question", "answer", "nothing"),
    [
        ("Why is the sky blue?", "The sky is blue.", True),
        ("What does the choir store about me?", "The choir stores about you.", True),
        ("What does the choir store about me?", "The choir stores your name.", False),
        ("Is the sky blue?", "The sky is blue.", False),
        ("Which is larger, Earth or Mars?", "Earth is larger.", False),
        ("how many moons has Earth", "Earth has one moon.", False),
        ("Who is free on Monday?", "No, nobody.", False),
    ],
)
def test_an_answer_that_repeats_its_question_adds_nothing(question: str, answer: str, nothing: bool) -> None:
    assert adds_nothing(question, answer) == nothing


@pytest.mark.parametrize(
    ("text", "answer", "opposite"),
    [
        ("Can it read scans?\nIt does not read scans, only text.", "Yes, it can read scans.", True),
        ("Can it read scans?\nIt does not read scans, only text.", "No, it does not read scans.", False),
        ("It reads scans, but not on paper.", "Yes, it reads scans.", False),
        ("Pets are not allowed. Guide dogs are allowed.", "Yes, guide dogs are allowed.", False),
        ("Pets are not allowed. Guide dogs are allowed.", "Yes, pets are allowed.", True),
        ("Smoking is not allowed.", "Yes, smoking is not allowed.", False),
        ("Smoking is forbidden.", "Yes, smoking is allowed.", True),
        (
            "Q: Is lunch included?\nA: No. It costs 7 euros.\nQ: Tea?\nA: Yes.",
            "Yes, lunch is included.",
            True,
        ),
        ("Q: Is lunch included?\nA: No. It costs 7 euros.", "No, lunch is not included.", False),
        ("Is lunch included?\nYes, on Sundays.", "No, lunch is not included.", True),
        ("It seldom snows in March.", "Yes, it snows in March.", True),
        ("Smoking is not allowed.", "Smoking is allowed.", False),  # the model's own judgment must tell
    ],
)
def test_the_closest_sentence_tells_yes_from_no(text: str, answer: str, opposite: bool) -> None:
    assert says_the_opposite(answer, [Reference(1, "https://example.org/1", "", text, 0.5)]) == opposite


_POOL = "Children under 8 need an adult. The board says how warm it was at seven. Dogs of 12 kg may swim."


@pytest.mark.parametrize(
    ("answer", "another"),
    [
        ("Yes, your 7-year-old can swim alone.", True),
        ("Yes, your seven-year-old can swim alone.", True),
        ("Yes, a dog of 12 kg may swim.", False),
        ("Yes, dogs may swim.", False),
        ("No, a child of 7 needs an adult.", False),  # the model's own judgment must tell
        ("Your 7-year-old can swim alone.", False),
    ],
)
def test_a_yes_with_a_number_that_stands_elsewhere(answer: str, another: bool) -> None:
    assert affirms_another_number(answer, [Reference(1, "https://example.org/1", "", _POOL, 0.5)]) == another


STUDY = (
    "We asked 600 physicians for the costs of care. It is unclear whether physicians know the costs of care. "
    "Physicians overestimated most costs. Nurses knew the costs of care well."
)


@pytest.mark.parametrize(
    ("question", "answer", "untold"),
    [
        (
            "Do physicians know the costs of medical care?",
            "Yes, physicians know the costs of medical care.",
            True,
        ),
        (
            "Do physicians know the costs of medical care?",
            "Physicians know the costs of medical care.",
            False,
        ),
        ("Did nurses know the costs of care?", "Yes, nurses knew the costs of care.", False),
        ("Do physicians know the costs of medical care?", "Yes, they overestimate the costs.", False),
        ("Do physicians know the costs?", "No, physicians do not know the costs.", False),
    ],
)
def test_a_bare_yes_needs_a_sentence_that_says_so(question: str, answer: str, *, untold: bool) -> None:
    references = [Reference(1, "https://example.org/1", "A survey", STUDY, 0.5)]
    assert affirms_untold(question, answer, references) is untold


def test_the_name_of_a_file_answers_only_where_a_file_is_asked_for() -> None:
    mail = [Reference(1, "file:///seminar.eml.txt", "seminar.eml.txt", "Please read pages 88 to 121.", 0.5)]
    answer = "You should read seminar.eml.txt."
    assert adds_nothing("What should I read?", answer, mail)
    assert not adds_nothing("What should I read?", "You should read pages 88 to 121.", mail)
    assert not adds_nothing("Which file should I read?", answer, mail)
