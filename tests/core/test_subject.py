"""What a question asks to describe, and the pages whose titles are names of it."""

from __future__ import annotations

import pytest

from citewell.core.subject import LAST_NAME, asked_subject, defines, is_about, mentioned


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is caesium?", "Caesium"),
        ("what is mercury", "Mercury (planet)"),
        ("What is the planet Mercury?", "Mercury (planet)"),
        ("What are black holes?", "Black hole"),
        ("What is a galaxy?", "Galaxies"),
        ("Who was Pelé?", "Pele"),
        ("who were the beatles", "The Beatles"),
        ("What's osmosis?", "Osmosis - A web encyclopedia"),
        ("Define photosynthesis.", "Photosynthesis"),
        ("What is the definition of inertia?", "Inertia"),
        ("meaning of entropy", "Entropy"),
        ("What is meant by entropy?", "Entropy"),
        ("What does DNA stand for?", "DNA"),
        ("Can you tell me about the French Revolution?", "French Revolution"),
        ("give me an overview of the French Revolution", "French Revolution"),
        ("Marie Curie", "Marie Curie"),
        ("What can you tell me about caesium?", "Caesium"),
        ("What does photosynthesis mean?", "Photosynthesis"),
        ("What does the word entropy mean?", "Entropy"),
        ("What is Alien - Resurrection?", "Alien - Resurrection"),
        ("Who are The The?", "The The"),
        ("What are churches?", "Church"),
        ("What are glasses?", "Glass"),
        ("What are viruses?", "Virus"),
        ("What are gases?", "Gas"),
        ("What are volcanoes?", "Volcano"),
        ("What are headaches?", "Headache"),
        ("What are shoes?", "Shoe"),
        ("What are axes?", "Axe"),
        ("What are the Nobel Prizes?", "Nobel Prize"),
        ("What is a house?", "Houses"),
        ("What did Florence Nightingale do?", "Florence Nightingale"),
        ("what does the heart do", "Heart"),
        ("What is Mozart best known for?", "Mozart"),
        ("why was the Magna Carta so important?", "Magna Carta"),
        ("Why is Venice famous?", "Venice"),
    ],
)
def test_a_page_on_the_subject(question: str, title: str) -> None:
    assert is_about(asked_subject(question), title) == 1


def test_a_page_on_somebody_whose_name_is_shortened() -> None:
    taft = asked_subject("What is William Taft known for?")
    assert is_about(taft, "William Howard Taft") == 0.75
    assert is_about(asked_subject("Who was Taft?"), "William Howard Taft") == LAST_NAME
    assert is_about(asked_subject("Who was John Adams?"), "John Adams") == 1
    assert is_about(asked_subject("Who was Howard Taft?"), "William Howard Taft") == LAST_NAME


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is the capital of France?", "France"),
        ("How do volcanoes form?", "Volcano"),
        ("What is caesium?", "Caesium chloride"),
        ("What do the Romans need to do?", "Roman"),
        ("Why is salt important for life?", "Salt"),
        ("What is a gas?", "GA"),
        ("Why?", "Why"),
        ("", "Caesium"),
        ("What is caesium?", ""),
    ],
)
def test_a_page_on_something_else(question: str, title: str) -> None:
    assert is_about(asked_subject(question), title) == 0


@pytest.mark.parametrize(
    ("title", "sentence", "expected"),
    [
        ("Volcano", "A volcano is an opening in the crust.", True),
        ("Penguin", "Penguins (order Sphenisciformes) are an order of birds.", True),
        ("Suffrage", "Suffrage (from the Latin suffragium, meaning vote) is the right to vote.", True),
        ("Mole (animal)", "Moles are members of the family Talpidae.", True),
        ("Volcano", "Volcanoes can also form where the crust is stretched.", False),
        ("Al Jazeera", '"Al Jazeera" is a common Arabic phrase.', False),
        ("Abadan", "Abadan (film) is also the name of a movie.", False),
        ("Volcano", "Mauna Loa is a volcano.", False),
    ],
)
def test_a_sentence_that_says_what_the_subject_is(title: str, sentence: str, expected: bool) -> None:
    assert defines(title, sentence) is expected


def test_a_last_name_is_less_sure() -> None:
    assert 0 < is_about(asked_subject("Who was Einstein?"), "Albert Einstein") < 1


def test_what_a_question_mentions() -> None:
    names = {name for name, _ in mentioned("Who discovered the Strait of Magellan?")}
    assert {"strait of magellan", "magellan", "strait"} < names
    assert not any(name.startswith(("who", "of")) for name in names)
