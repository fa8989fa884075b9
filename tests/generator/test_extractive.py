"""Quoted answers: whole sentences, word for word, each with the reference that it is from."""

from __future__ import annotations

from itertools import groupby

import pytest

from citewell.core.text import squeeze, words
from citewell.core.types import Reference
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.marks import MarkedSentence, read_marks
from citewell.generator.extractive import ExtractiveGenerator
from citewell.retriever.parts import parts
from citewell.retriever.rank import Ranker

QUESTION = "Why is the sky blue?"
SCATTERING = (
    "Sunlight is scattered by the molecules of the air. "
    "It is scattered the more the shorter its waves are. "
    "So blue light reaches us from all over the sky, which is why the sky looks blue. "
    "Lord Rayleigh explained the blue of the sky in 1871."
)
COPY = (
    "Sunlight is scattered by the molecules of the air, says a copy. "
    "The sea is blue because it absorbs red light."
)
UNREADABLE = (
    "Why is the sky blue\n"
    "- Blue sky\n"
    "Usage: sky [OPTIONS] why is the sky blue...\n"
    "| Colour | Sky |\n"
    "sky is blue because it is cut in the middle.\n"
    "Blue sky.\n"
    "The Blue of the Sky.\n"
    "(The sky is blue because of its air.)\n"
    f"The sky is blue because {'of light and ' * 40}air."
)


def references(*texts: str) -> list[Reference]:
    return [
        Reference(number, f"https://example.org/{number}", "The sky", text, 0.7)
        for number, text in enumerate(texts, start=1)
    ]


async def answer(
    ranker: Ranker, texts: list[Reference], sentences: int = 5, question: str = QUESTION
) -> list[MarkedSentence]:
    generator = ExtractiveGenerator(ranker.scores, sentences=sentences, split=parts)
    pieces = [token.text async for token in generator.generate(question, texts, 1)]
    return read_marks("".join(pieces))


@pytest.mark.parametrize("most", [1, 2, 3, 5, 20])
async def test_sentences_are_verbatim_cited_and_few(ranker: Ranker, most: int) -> None:
    pool = references(SCATTERING, COPY, UNREADABLE)
    quoted = await answer(ranker, pool, most)
    assert 1 <= len(quoted) <= most
    for sentence in quoted:
        (number,) = sentence.marks
        assert sentence.text in squeeze(pool[number - 1].text)
        assert number != 3, "nothing of the third reference can be read"
    checked = check_citations(" ".join(f"{s.text} [{s.marks[0]}]" for s in quoted), pool, 0.5)
    assert [sentence.support for sentence in checked] == [1.0] * len(quoted)


@pytest.mark.parametrize("text", [UNREADABLE, "", "\n \n", "Table of contents", "…"])
async def test_nothing_readable_gives_nothing(ranker: Ranker, text: str) -> None:
    assert await answer(ranker, references(text)) == []


async def test_what_has_nothing_to_do_with_the_question_is_not_quoted(ranker: Ranker) -> None:
    rent = "Rent is due on the first of October. The tap by the gate has the best pressure."
    unrelated = [Reference(1, "https://example.org/1", "Allotments", rent, 0.0)]
    assert await answer(ranker, unrelated) == []


async def test_a_sentence_in_capitals_is_quoted_and_a_heading_is_not(ranker: Ranker) -> None:
    sign = "THE BLUE OF THE SKY.\nTHE SKY IS BLUE SINCE THE AIR SCATTERS BLUE LIGHT."
    quoted = await answer(ranker, references(sign))
    assert [each.text for each in quoted] == ["THE SKY IS BLUE SINCE THE AIR SCATTERS BLUE LIGHT."]


async def test_an_amount_is_quoted_though_its_name_is_in_capitals(ranker: Ranker) -> None:
    quoted = await answer(ranker, references("WHY BLUE SKY | 450\nGRASS | 550"))
    assert [each.text for each in quoted] == ["WHY BLUE SKY: 450."]


async def test_the_title_is_not_quoted(ranker: Ranker) -> None:
    titled = [
        Reference(1, "", "Sky: why it is blue", "Sky: why it is blue\nLight: scattered by the air", 0.7)
    ]
    assert [each.text for each in await answer(ranker, titled)] == ["Light: scattered by the air."]
    notes = "why the sky is blue\nlight is scattered by the air"
    (quoted,) = await answer(ranker, [Reference(1, "", "why the sky is blue", notes, 0.7)])
    assert quoted.text == "Light is scattered by the air."


def test_the_best_score_is_that_of_the_sentence_that_answers(ranker: Ranker) -> None:
    generator = ExtractiveGenerator(ranker.scores, sentences=5, split=parts)
    rent = [Reference(1, "https://example.org/1", "Allotments", "Rent is due on the first of October.", 0.0)]
    assert generator.best_score(QUESTION, references(SCATTERING)) > 0.7
    assert generator.best_score(QUESTION, rent) < 0.15
    assert generator.best_score(QUESTION, ()) == -1


async def test_no_references(ranker: Ranker) -> None:
    assert await answer(ranker, []) == []


async def test_the_same_thing_is_said_once(ranker: Ranker) -> None:
    quoted = [s.text for s in await answer(ranker, references(SCATTERING, SCATTERING, COPY), 10)]
    assert len(quoted) == len(set(quoted))
    assert sum("molecules of the air" in text for text in quoted) == 1


@pytest.mark.parametrize("most", range(1, 6))
async def test_a_sentence_that_points_back_follows_the_one_it_points_at(ranker: Ranker, most: int) -> None:
    quoted = [s.text for s in await answer(ranker, references(SCATTERING), most)]
    assert quoted
    for before, pointing in (("Sunlight is", "It is scattered"), ("It is scattered", "So blue light")):
        places = [place for place, text in enumerate(quoted) if text.startswith(pointing)]
        assert all(place > 0 and quoted[place - 1].startswith(before) for place in places)


async def test_some_answer_holds_the_sentence_that_points_back(ranker: Ranker) -> None:
    quoted = [s.text for s in await answer(ranker, references(SCATTERING))]
    assert "So blue light reaches us from all over the sky, which is why the sky looks blue." in quoted


async def test_a_first_sentence_that_points_out_of_its_passage_is_left_out(ranker: Ranker) -> None:
    text = "This is why the sky is blue. Air scatters blue light more than red light."
    assert await answer(ranker, references(text)) == [
        MarkedSentence("Air scatters blue light more than red light.", (1,))
    ]


async def test_short_items_of_a_list_make_one_sentence(ranker: Ranker) -> None:
    long = (
        "the air scatters it, which it does the more the shorter its waves are, as Rayleigh found in 1871, "
        "long before anybody had measured the light of the sky"
    )
    listed = f"The sky is blue because of its light:\n- its short waves\n- its scattering in air\n- {long}"
    quoted = [sentence.text for sentence in await answer(ranker, references(listed))]
    assert quoted == [
        "The sky is blue because of its light: its short waves; its scattering in air.",
        f"The sky is blue because of its light: {long}.",
    ]


async def test_other_scripts(ranker: Ranker) -> None:
    for text in (
        "天空是蓝色的，因为空气散射蓝光。",
        "« Le ciel est bleu », dit Rayleigh en 1871.",
        "Été comme hiver, le ciel est bleu.",
        "¡El cielo es azul por el aire!",
    ):
        assert await answer(ranker, references(text)) == [MarkedSentence(text, (1,))]


async def test_a_question_is_not_quoted_but_its_answer_is(ranker: Ranker) -> None:
    """Pages of frequent questions repeat the question, and the answer need not repeat its words."""
    text = (
        "Who painted the barn? The barn dates from 1890. Why is the sky blue? Air scatters short waves most."
    )
    quoted = [s.text for s in await answer(ranker, references(text))]
    assert quoted[-1] == "Air scatters short waves most."
    assert not [sentence for sentence in quoted if sentence.endswith("?")]


async def test_an_answer_may_point_back_to_its_question(ranker: Ranker) -> None:
    faq = "Q: Why is the sky blue?\nA: It is since the air scatters blue light most."
    quoted = await answer(ranker, references(faq))
    assert [each.text for each in quoted] == ["It is since the air scatters blue light most."]


async def test_a_sentence_that_only_says_what_people_ask_is_not_quoted(ranker: Ranker) -> None:
    text = "People ask why the sky is blue. Nine times out of ten it is dust: it scatters blue light."
    quoted = await answer(ranker, references(text))
    assert [each.text for each in quoted] == ["Nine times out of ten it is dust: it scatters blue light."]


async def test_only_the_row_with_the_code_that_is_asked_for_is_quoted(ranker: Ranker) -> None:
    codes = references(
        "code | cause | remedy\nE01 | no flame | clean\nE04 | hot gas | brush\nE07 | empty | fill"
    )
    (quoted,) = await answer(ranker, codes, question="What does code e04 mean?")
    assert quoted.text == "Code: E04; cause: hot gas; remedy: brush."


async def test_the_text_and_the_caption_of_a_picture_are_not_quoted(ranker: Ranker) -> None:
    picture = "The blue sky and the blue sea. The blue sky and the blue sea. "
    quoted = await answer(ranker, references(picture + SCATTERING))
    assert quoted
    assert not any("sea" in sentence.text for sentence in quoted)


async def test_a_row_is_quoted_with_its_columns_though_they_have_no_capital(ranker: Ranker) -> None:
    quoted = await answer(ranker, references("color | cause | seen\nblue sky | scattered light | by day"))
    assert [sentence.text for sentence in quoted] == [
        "Color: blue sky; cause: scattered light; seen: by day."
    ]


async def test_white_space_is_all_that_changes(ranker: Ranker) -> None:
    (sentence,) = await answer(ranker, references("The   sky is\u00a0blue because\tair scatters blue light."))
    assert sentence.text == "The sky is blue because air scatters blue light."


async def test_sentences_of_a_reference_stay_together_in_their_order(ranker: Ranker) -> None:
    pool = references(SCATTERING, COPY)
    quoted = await answer(ranker, pool, 20)
    runs = [number for number, _ in groupby(quoted, key=lambda sentence: sentence.marks)]
    assert len(runs) == len(set(runs)) == 2
    for number in (1, 2):
        source = squeeze(pool[number - 1].text)
        places = [source.index(sentence.text) for sentence in quoted if sentence.marks == (number,)]
        assert places == sorted(places)


async def test_what_leads_away_from_the_question_is_left_out(ranker: Ranker) -> None:
    bread = "Bread dough rises because yeast gives off carbon dioxide. The first loaf was sliced in Missouri."
    quoted = await answer(ranker, references(SCATTERING, bread), 20)
    assert not any("bread" in words(s.text) or "loaf" in words(s.text) for s in quoted)


async def test_each_part_of_a_comparison_gets_its_sentences(ranker: Ranker) -> None:
    caesium = "Caesium is a soft golden metal. Caesium melts at 28 degrees. Caesium is used in clocks."
    chloride = "Calcium chloride is a salt. Calcium chloride melts ice on roads. It is sold as flakes."
    pool = [
        Reference(1, "https://example.org/1", "Caesium", caesium, 0.7),
        Reference(2, "https://example.org/2", "Calcium chloride", chloride, 0.5),
    ]
    generator = ExtractiveGenerator(ranker.scores, sentences=4, split=parts)
    question = "Compare caesium and calcium chloride"
    text = "".join([token.text async for token in generator.generate(question, pool, 1)])
    marks = [mark for sentence in read_marks(text) for mark in sentence.marks]
    assert marks.count(1) == marks.count(2) == 2


async def test_a_part_without_an_answer_gets_none(ranker: Ranker) -> None:
    pool = references("Caesium is a soft golden metal. Caesium melts near room temperature.")
    generator = ExtractiveGenerator(ranker.scores, sentences=4, split=parts)
    question = "Compare caesium and the Battle of Hastings"
    text = "".join([token.text async for token in generator.generate(question, pool, 1)])
    assert len(read_marks(text)) == 2
