"""Questions for a section of a page: what is asked of which subject, and which headings name it."""

import pytest

from citewell.core.asked_section import asked_section


@pytest.mark.parametrize(
    ("question", "title", "heading"),
    [
        ("What is the climate of Kenya?", "Kenya", "Climate"),
        ("What were the main causes of the Boer War?", "Boer War", "Causes of the war"),
        ("What caused World War I?", "World War I", "Causes"),
        ("What led to the Boer War?", "Boer War", "Background"),
        ("What was the cause of the Boer War?", "Boer War", "Background"),
        ("Why did World War I start?", "World War I", "Causes"),
        ("what is kenya's economy", "Kenya", "Economy and trade"),
        ("Tell me about the history of chess.", "Chess", "Early history"),
        ("the symptoms of malaria", "Malaria (disease)", "Signs and symptoms"),
    ],
)
def test_a_question_for_an_aspect_is_for_the_section_with_that_heading(
    question: str, title: str, heading: str
) -> None:
    section = asked_section(question)
    assert section is not None
    assert section.certainty(title, (heading,)) == 1
    assert section.certainty(title, (heading, "Sources")) == 1, "a section inside of it belongs to it"
    assert section.certainty(title, ("Gallery",)) == section.certainty(title, ()) == 0
    assert section.certainty("Another page", (heading,)) == 0


def test_a_heading_that_only_begins_with_the_word_is_another_section() -> None:
    section = asked_section("What is the capital of Chad?")
    assert section is not None
    assert section.certainty("Chad", ("Capital punishment",)) == 0
    assert section.certainty("Chad", ("Capital",)) == 1


@pytest.mark.parametrize("question", ["What is chess?", "Who was the king of Spain?", "How do bees fly?", ""])
def test_other_questions_are_for_no_section(question: str) -> None:
    assert asked_section(question) is None
