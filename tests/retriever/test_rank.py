"""The passages that answer come first, once each, numbered from 1; with the real encoder."""

from __future__ import annotations

import pytest

from citewell.core.types import Passage
from citewell.retriever.encoder.encoder import DualEncoder
from citewell.retriever.rank import Ranker

QUESTION = "Why is the sky blue?"
ANSWER = (
    "Sunlight is scattered by the molecules of the air, blue light more than red since its waves are "
    "shorter, and so blue light reaches us from all over the sky."
)


def passage(text: str, title: str = "Page", url: str = "https://example.org/") -> Passage:
    return Passage(url, title, text)


TEXTS = [
    "Blue is a primary colour in the RYB model, and the favourite colour of half of all people.",
    "Sky Blue is a song by Peter Gabriel, from the album Up, released in 2002 after ten years.",
    "Bread rises because yeast feeds on the sugars of the flour and gives off carbon dioxide.",
    "The sky was blue when Captain Ahab left the harbour, and why he did so nobody knew.",
    "Coventry City's colours are sky blue, and the club's nickname is why you are asking.",
    "Cats purr by twitching the muscles of their larynx, about thirty times a second.",
]
SKIES = [
    "At sunset the sky turns red.",
    "A cloudy sky is white or grey.",
    "On Mars the sky is the colour of butterscotch.",
]
DISTRACTORS = [passage(text, url=f"https://example.org/{place}") for place, text in enumerate(TEXTS)]


@pytest.mark.parametrize("place", [0, 3, 6])
def test_the_passage_that_answers_comes_first(ranker: Ranker, place: int) -> None:
    passages = [*DISTRACTORS]
    passages.insert(place, passage(ANSWER, "Rayleigh scattering", "https://example.org/sky"))
    references = ranker.rank(QUESTION, passages, 5)
    assert (references[0].text, references[0].url) == (ANSWER, "https://example.org/sky")
    assert [reference.number for reference in references] == [1, 2, 3, 4, 5]
    texts = [f"{reference.title}. {reference.text}" for reference in references]
    # Rounding differs a little with the batch that a passage is encoded in.
    assert [r.score for r in references] == pytest.approx(ranker.scores(QUESTION, texts).tolist(), abs=0.01)
    assert references[0].score > 0.55


def test_the_same_passage_from_two_pages_appears_once(ranker: Ranker) -> None:
    copies = [
        passage(ANSWER, "Rayleigh scattering", "https://example.org/a"),
        passage(ANSWER.replace(", and so", ". So") + " (Copied.)", "A copy", "https://example.org/b"),
        passage(ANSWER.upper(), "Another copy", "https://example.org/c"),
    ]
    references = ranker.rank(QUESTION, [*copies, *DISTRACTORS], 5)
    assert [reference.number for reference in references] == [1, 2, 3, 4, 5]
    assert sum("molecules" in reference.text.lower() for reference in references) == 1


def test_one_page_gives_three_references_at_most_if_others_have_enough(ranker: Ranker) -> None:
    one_page = [passage(text) for text in TEXTS]
    others = [passage(text, url=f"https://other.example/{text[:4]}") for text in (ANSWER, *SKIES)]
    references = ranker.rank(QUESTION, [*one_page, *others], 5)
    assert [reference.url for reference in references].count("https://example.org/") == 3
    assert [reference.number for reference in references] == [1, 2, 3, 4, 5]


def test_one_page_gives_as_many_as_asked_for_if_there_are_no_others(ranker: Ranker) -> None:
    references = ranker.rank(QUESTION, [passage(text) for text in (ANSWER, *TEXTS)], 6)
    assert len({reference.text for reference in references}) == 6
    assert references[0].text == ANSWER


def test_fewer_passages_than_asked_for(ranker: Ranker) -> None:
    references = ranker.rank(QUESTION, DISTRACTORS[:2], 5)
    assert [reference.number for reference in references] == [1, 2]
    assert {reference.text for reference in references} == {p.text for p in DISTRACTORS[:2]}


def test_no_passages(ranker: Ranker) -> None:
    assert ranker.rank(QUESTION, [], 5) == ()


def test_a_passage_is_read_with_its_title(ranker: Ranker) -> None:
    text = "It is caused by molecules that are much smaller than the wavelength of the light."
    question = "What causes Rayleigh scattering?"
    (untitled,) = ranker.rank(question, [passage(text, "Harbour news")], 1)
    (titled,) = ranker.rank(question, [passage(text, "Rayleigh scattering")], 1)
    assert titled.score > untitled.score + 0.1


def test_bm25_decides_what_the_encoder_sees(encoder: DualEncoder) -> None:
    strict = Ranker(encoder, prefilter=1)
    passages = [*DISTRACTORS, passage("Nothing is said here about it at all."), passage(ANSWER)]
    assert len(strict.rank(QUESTION, passages, 5)) == 1
    (purring,) = strict.rank("How do cats purr with their larynx?", passages, 5)
    assert "purr" in purring.text


def test_scores_are_in_the_order_of_the_texts(ranker: Ranker) -> None:
    scores = ranker.scores(QUESTION, [DISTRACTORS[5].text, ANSWER, DISTRACTORS[2].text])
    assert scores.shape == (3,)
    assert scores.argmax() == 1
    assert ranker.scores(QUESTION, []).shape == (0,)


LEAD = (
    "Caesium is a chemical element with the symbol Cs and the atomic number 55, a soft, silvery-gold alkali "
    "metal that melts at 28.5 degrees and is liquid near room temperature."
)
FRAGMENTS = [passage(text, "Caesium", "https://example.org/cs") for text in ("- Caesium", "Caesium > Metal")]
ELEMENT = [*FRAGMENTS, passage(LEAD, "Caesium", "https://example.org/cs")]
NEAR = [
    passage(text, "Atomic clock", "https://example.org/clock")
    for text in ("What is caesium? The element that clocks count.", "Caesium is in every atomic clock.")
]


@pytest.mark.parametrize(
    "question", ["What is caesium?", "define caesium", "Caesium", "Tell me about caesium", "what's caesium"]
)
def test_the_lead_of_the_page_on_the_subject_comes_first(ranker: Ranker, question: str) -> None:
    assert ranker.rank(question, [*NEAR, *ELEMENT, *DISTRACTORS], 5)[0].text == LEAD


def test_the_lead_is_read_even_if_bm25_prefers_others(encoder: DualEncoder) -> None:
    strict = Ranker(encoder, prefilter=2)
    assert strict.rank("What is caesium?", [*NEAR, *ELEMENT], 2)[0].text == LEAD


@pytest.mark.parametrize("question", ["What are the uses of caesium?", "Caesium's uses", "Is it soft?"])
def test_the_section_that_is_asked_for_comes_first(ranker: Ranker, question: str) -> None:
    text = "Drilling fluids take most of what is mined, the rest goes into frequency standards."
    section = Passage("https://example.org/cs", "Caesium", text, ("Uses",))
    first = ranker.rank(question, [*NEAR, *ELEMENT, section, *DISTRACTORS], 5)[0]
    assert (first.headings == ("Uses",)) == ("uses" in question)


def test_a_passage_that_is_nearly_its_title_does_not_win(ranker: Ranker) -> None:
    references = ranker.rank("At what temperature does caesium melt?", [*ELEMENT, *DISTRACTORS], 5)
    assert references[0].text == LEAD


def test_each_part_of_a_question_gets_its_share(ranker: Ranker) -> None:
    sky = [passage(text, "Sky", f"https://example.org/{n}") for n, text in enumerate([ANSWER, *SKIES])]
    parts = ("Why is the sky blue?", "What is caesium?")
    ranking = ranker.begin("Why is the sky blue and what is caesium?", parts)
    ranking.add(0, [*sky, *ELEMENT, *NEAR])
    references = ranking.top(4)
    assert [reference.text for reference in references[:2]] == [ANSWER, LEAD]
    assert sum(reference.title == "Sky" for reference in references) == 2
    scores = [ranker.scores(p, [f"{r.title}. {r.text}"])[0] for p, r in zip(parts, references, strict=False)]
    assert [r.score for r in references[:2]] == pytest.approx(scores, abs=0.01)
