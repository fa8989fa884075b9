"""Citations that a language model judges, asked over HTTP."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest
from aiohttp import web

from citewell.core.types import Reference, Sentence
from citewell.generator.chat_client import ChatClient
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.yes import ApiYesModel
from tests.generator.chat_service import ChatService, yes_or_no

CANAL = (
    "The Suez Canal joins the Mediterranean and the Red Sea. It opened on 17 November 1869 after ten years "
    "of work. In 1975 it was cleared of mines and ships passed again."
)
LENGTH = "It is 193 kilometers long, and a ship needs twelve to sixteen hours for its length."
REFERENCES = [
    Reference(1, "https://example.org/1", "Suez Canal", CANAL, 0.8),
    Reference(2, "https://example.org/2", "Length", f"{LENGTH} " + "Nothing else is known here. " * 80, 0.7),
]
QUESTION = "When did the Suez Canal open?"


async def judged(
    answer: str,
    likely: Mapping[str, float] | float = 0.9,
    question: str = "",
    again: tuple[float, float] = (0.1, 0.1),
    references: Sequence[Reference] = REFERENCES,
    *,
    markdown: bool = False,
) -> tuple[tuple[Sentence, ...], list[tuple[str, str]]]:
    """The sentences, and the claims with the passages that the model was asked about.

    `again` are the probabilities that the passage answers, and that the answer is right by it.
    """
    asked: list[tuple[str, str]] = []

    async def service(request: web.Request) -> web.StreamResponse:
        content = (await request.json())["messages"][-1]["content"]
        if "Question: " in content:
            return web.json_response(yes_or_no(again["Answer: " in content]))
        found = re.search(r"Passage: (.*)\n\nClaim: (.*)\n\n", content, re.DOTALL)
        assert found
        asked.append((found[2], found[1]))
        yes = likely if isinstance(likely, float) else likely[found[1].partition(":")[0]]
        return web.json_response(yes_or_no(yes))

    async with ChatService([service]) as http, ChatClient("tutor", http.url) as client:
        sentences = check_citations(answer, references, markdown=markdown)
        return await JudgedCitations(ApiYesModel(client)).check(question, sentences, references), asked


async def test_what_shares_words_but_is_false_is_not_supported() -> None:
    false = "The Suez Canal opened in 1975."
    assert check_citations(false, REFERENCES)[0].supported
    sentences, asked = await judged(false, 0.3)
    assert sentences == (Sentence(false, (), 0.3, supported=False, status="partly"),)
    assert [claim for claim, _ in asked] == [false]


async def test_what_is_said_in_other_words_is_supported() -> None:
    true = "Since 1869 vessels sail through the Suez cut, finished within a decade."
    assert not check_citations(true, REFERENCES)[0].supported
    sentences, _ = await judged(true, 0.8)
    assert sentences == (Sentence(true, (1,), 0.8, supported=True),)


@pytest.mark.parametrize(("likely", "supported"), [(0.54, False), (0.56, True), (0.9, True)])
async def test_yes_has_to_be_likely_enough(likely: float, supported: bool) -> None:
    (sentence,), _ = await judged("After a decade of labor, the Suez Canal opened.", likely)
    assert sentence.supported == supported


@pytest.mark.parametrize(("likely", "supported"), [(0.66, False), (0.68, True)])
async def test_words_in_another_order_have_to_be_surer(likely: float, supported: bool) -> None:
    (sentence,), _ = await judged("The Red Sea joins the Suez Canal and the Mediterranean.", likely)
    assert sentence.supported == supported


@pytest.mark.parametrize(("likely", "supported"), [(0.84, False), (0.86, True)])
async def test_a_later_sentence_of_running_text_has_to_be_surer(likely: float, supported: bool) -> None:
    answer = "After a decade of labor, the Suez Canal opened. In 1975, ships passed through the Canal again."
    (first, later), _ = await judged(answer, likely, markdown=True)
    assert first.supported
    assert (later.supported, later.status) == (supported, "supported" if supported else "partly")


async def test_items_of_a_list_need_not_be_surer() -> None:
    answer = (
        "- After a decade of labor, the Suez Canal opened.\n- In 1975, ships passed through the Canal again."
    )
    items, _ = await judged(answer, 0.7, markdown=True)
    assert [item.supported for item in items] == [True, True]


async def test_a_number_that_the_passage_lacks_is_never_supported() -> None:
    (sentence,), _ = await judged("The Suez Canal opened in 1896.", 0.99)
    assert (sentence.supported, sentence.status, sentence.citations) == (False, "partly", ())


WALL = (
    "The Berlin Wall was a concrete barrier that divided the city. On August 23, 1989, Hungary removed its "
    "physical border defenses with Austria, and 13,000 tourists escaped. The Wall fell on November 9."
)


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [
        ("The Berlin Wall fell on August 23, 1989.", False),
        ("The Berlin Wall fell on November 9.", True),
        ("On November 9.", True),
        ("Hungary opened its border on August 23, 1989.", True),
    ],
)
async def test_the_date_of_another_event_is_not_evidence(sentence: str, *, supported: bool) -> None:
    references = [Reference(1, "https://example.org/1", "Berlin Wall", WALL, 0.8)]
    question = "When did the Berlin Wall fall?"
    found, _ = await judged(f"The Wall divided Berlin. {sentence}", 0.9, question, references=references)
    assert found[1].supported is supported


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [
        ("The association has 64 members.", False),
        ("The association has 64 plots.", True),
        ("The association's 64 plots have 250 square meters each.", True),
        ("It takes 40 seconds to warm up.", True),
    ],
)
async def test_what_is_counted_stands_beside_the_number(sentence: str, *, supported: bool) -> None:
    text = "The association rents 64 plots of 250 square metres. The pump of its members warms up in 40 s."
    references = [Reference(1, "plots.md", "Plots", text, 0.8)]
    found, _ = await judged(sentence, 0.9, references=references)
    assert found[0].supported is supported


async def test_a_number_of_the_headings_holds_for_all_below() -> None:
    text = "Repairs the crash on opening orders with more than 999 lines."
    path = ("Release notes of Palletjack for warehouses", "4.1.1 (2 October)")
    references = [Reference(1, "notes.md", path[0], text, 0.8, headings=path[1:])]
    (found,), _ = await judged("The crash with huge orders was put right in 4.1.1.", references=references)
    assert found.supported


BOILER = """\
2026-11-02 boiler pressure 1.1 bar, topped up
2026-11-09 boiler pressure 1.6 bar
Its pressure should be 1.5 bar."""


@pytest.mark.parametrize(
    ("question", "sentence", "supported"),
    [
        ("What was it on 9 November?", "On 9 November, the boiler had a pressure of 1.6 bar.", True),
        ("What was it on 9 November?", "On November 9, 2026, the boiler had a pressure of 1.1 bar.", False),
        ("What was it on 9 November?", "The boiler had a pressure of 1.6 bar.", True),
        ("What was it on 9 November?", "The boiler had a pressure of 1.1 bar.", False),
        ("What was it on 9 November?", "The pressure of the boiler should be 1.5 bar.", True),
        ("Was it ever low?", "The boiler had a pressure of 1.1 bar.", True),
    ],
)
async def test_a_number_of_another_day_is_not_evidence(
    question: str, sentence: str, *, supported: bool
) -> None:
    references = [Reference(1, "log.md", "Log", BOILER, 0.8)]
    found, _ = await judged(sentence, 0.9, question, references=references)
    assert found[0].supported is supported


async def test_a_first_sentence_that_is_not_sure_must_count_the_same_thing() -> None:
    references = [Reference(1, "plots.md", "Plots", "The association rents 64 plots.", 0.8)]
    question = "How many members does the association have?"
    for said, supported in (("The association has 64 members.", False), ("64 plots are rented.", True)):
        (found,), _ = await judged(said, 0.6, question, again=(0.9, 0.9), references=references)
        assert found.supported is supported


@pytest.mark.parametrize(
    ("price", "supported"), [("4.80 dollars", False), ("$4.80", False), ("€4.80", True), ("4.80 euros", True)]
)
async def test_a_currency_that_the_passage_lacks_is_not_evidence(price: str, *, supported: bool) -> None:
    references = [Reference(1, "prices.md", "Prices", "Rye bread: 4.80 EUR\nMilk bread: 3.90 EUR", 0.8)]
    found, _ = await judged(f"The rye bread costs {price}.", 0.9, references=references)
    assert found[0].supported is supported


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [
        ("You get back 6 euros.", False),
        ("You get back the fee less 6 euros.", True),
        ("The fee is 42 euros.", True),
    ],
)
async def test_a_number_that_is_taken_from_another_is_not_the_whole(
    sentence: str, *, supported: bool
) -> None:
    text = "Whoever withdraws until March gets back the fee of 42 euros less 6 euros."
    found, _ = await judged(sentence, 0.9, references=[Reference(1, "race.md", "Race", text, 0.8)])
    assert found[0].supported is supported


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [
        ("The prize went to Ada Lind.", True),
        ("The prize went to Bea Marsh.", False),
        ("The prize went to a lady of the World Health Organization.", True),
        ("The prize went to a lady of the WHO in Helm.", False),
        ("The prize went to a lady of the RUTES.", True),
        ("The prize went to a lady of the RUTAN.", False),
        ("The prize went to a lady of Dunholm on 3 May.", True),
        ("The question of Hugo Blum is who got the prize: Ada Lind.", True),
    ],
)
async def test_a_name_that_the_reference_lacks_is_not_supported(sentence: str, *, supported: bool) -> None:
    text = (
        "The lady of the WHO who got the prize on 2026-05-03 was ada lind. "
        "She was in the Royal Union of Tidal Energy Studies."
    )
    references = [Reference(1, "prize.md", "Dunholm", text, 0.8)]
    found, _ = await judged(f"It is so. {sentence}", 0.9, "What does Hugo Blum ask?", references=references)
    assert found[1].supported is supported


async def test_units_may_be_abbreviated() -> None:
    table = "Distance | Start | Limit\n21 km | 9:15 | 3 h and 15 min\n10 km | 10:00 | 1 h and 40 min"
    references = [Reference(1, "race.md", "Race", table, 0.8)]
    found, _ = await judged("The ten-kilometer event begins at 10:00.", 0.9, references=references)
    assert found[0].supported


async def test_a_number_may_stand_there_in_words() -> None:
    (sentence,), _ = await judged("Building the Suez Canal took 10 years.", 0.8)
    assert sentence.supported


async def test_what_the_passage_denies_is_contradicted() -> None:
    (sentence,), _ = await judged("The Suez Canal never opened for ships.", 0.1)
    assert sentence.status == "contradicted"


@pytest.mark.parametrize("likely", [0.3, 0.69])
@pytest.mark.parametrize(
    ("again", "supported"),
    [((0.9, 0.9), True), ((0.68, 0.81), True), ((0.66, 0.9), False), ((0.9, 0.79), False)],
)
async def test_a_first_sentence_that_is_not_sure_is_looked_at_as_an_answer(
    likely: float, again: tuple[float, float], supported: bool
) -> None:
    answer = "The Suez Canal opened in November 1869. Ships passed again in 1975."
    (first, second), _ = await judged(answer, likely, QUESTION, again)
    assert (first.supported, first.citations) == (supported, (1,) if supported else ())
    assert first.support == (again[1] if supported else likely)
    assert second.supported == (likely > 0.5)


async def test_a_sure_first_sentence_is_not_looked_at_again() -> None:
    (sentence,), _ = await judged("After ten years, ships went through.", 0.75, QUESTION, (0.0, 0.0))
    assert sentence.supported


async def test_a_first_sentence_that_no_sentence_grounds_is_not_supported_unless_sure() -> None:
    (sentence,), _ = await judged("The Suez Canal opened in 1975.", 0.6, QUESTION, (0.99, 0.99))
    assert (sentence.supported, sentence.status, sentence.citations) == (False, "partly", ())


async def test_what_nobody_says_is_not_found() -> None:
    (sentence,), asked = await judged("Cats purr by twitching their larynx.")
    assert (sentence.status, sentence.support, asked) == ("not_found", 0.0, [])


async def test_a_quotation_is_not_asked_about() -> None:
    sentences, asked = await judged("It opened on 17 November 1869 after ten years of work. [2]")
    assert [(s.citations, s.support, s.supported) for s in sentences] == [((1,), 1.0, True)]
    assert not asked


async def test_a_quotation_without_the_beginning_of_its_sentence_is_asked_about() -> None:
    reference = Reference(1, "https://example.org/1", "Myths", "It is a myth that Napoleon sold Alaska.", 0.8)
    sentence = Sentence("Napoleon sold Alaska.", (1,), 1.0, supported=True)

    async def service(request: web.Request) -> web.StreamResponse:
        return web.json_response(yes_or_no(0.1))

    async with ChatService([service]) as http, ChatClient("tutor", http.url) as client:
        judge = JudgedCitations(ApiYesModel(client))
        (found,) = await judge.check("What did Napoleon sell?", [sentence], [reference])
    assert (found.supported, found.status) == (False, "contradicted")


async def test_another_reference_is_asked_if_the_closest_does_not_say_it() -> None:
    claim = "A ship needs half a day for the length of the Suez Canal."
    (sentence,), asked = await judged(claim, {"Suez Canal": 0.7, "Length": 0.2})
    assert [passage.partition(":")[0] for _, passage in asked] == ["Length", "Suez Canal"]
    assert sentence.citations == (1,)


async def test_only_the_part_of_a_long_reference_that_matters_is_shown() -> None:
    _, asked = await judged("The canal is 193 kilometers long.")
    (passage,) = {passage for _, passage in asked if passage.startswith("Length")}
    assert LENGTH in passage
    assert len(passage.split()) <= 201


async def test_a_short_sentence_is_read_with_its_question() -> None:
    _, asked = await judged("Yes, 1869.", question="Did the Suez Canal open in 1869?")
    assert asked[0][0] == "Did the Suez Canal open in 1869? Yes, 1869."


async def test_a_ruler_of_another_number_is_another_ruler() -> None:
    reference = Reference(
        1, "https://example.org/1", "Elizabeth I", "Unlike Philip II, Elizabeth I died in 1603.", 0.8
    )
    likely: Mapping[str, bool] = {
        "Elizabeth II died in 1603.": False,
        "Elizabeth I died in 1603.": True,
    }

    async def service(request: web.Request) -> web.StreamResponse:
        return web.json_response(yes_or_no(0.9))

    async with ChatService([service]) as http, ChatClient("tutor", http.url) as client:
        judge = JudgedCitations(ApiYesModel(client))
        for text, supported in likely.items():
            (found,) = await judge.check("When did she die?", check_citations(text, [reference]), [reference])
            assert found.supported is supported


async def test_a_sentence_about_what_an_unsupported_one_names_is_not_supported() -> None:
    answer = "Cats carry ships through Suez. It is 193 kilometers long for its ships."
    (first, second), _ = await judged(answer, {"Suez Canal": 0.1, "Length": 0.1})
    assert not first.supported
    assert (second.supported, second.citations) == (False, ())
    (alone,), _ = await judged("It is 193 kilometers long for its ships.", 0.9)
    assert alone.supported
    likely = {"Suez Canal": 0.1, "Length": 0.9}
    (first, second), _ = await judged("Cats carry ships to the Red Sea. It is 193 kilometers long.", likely)
    assert not first.supported
    assert (second.supported, second.status, second.citations) == (False, "partly", ())
    (first, named), _ = await judged("Cats carry ships to the Red Sea. Ships go 193 kilometers.", likely)
    assert named.supported


async def test_a_first_sentence_that_only_repeats_the_question_is_not_supported() -> None:
    answer = "The Suez Canal opened. It opened in 1869."
    (first, second), _ = await judged(answer, 0.95, QUESTION)
    assert (first.supported, first.status) == (False, "partly")
    assert second.status == "partly"  # it speaks of what the first one names
    (first, _), _ = await judged(answer, 0.95, "Did the Suez Canal open?")
    assert first.supported


async def test_a_first_sentence_that_only_names_a_file_is_not_supported() -> None:
    mail = [
        Reference(1, "seminar.eml.txt", "seminar.eml.txt", "You should read chapter five of the book.", 0.8)
    ]
    for answer, supported in (
        ("You should read seminar.eml.txt.", False),
        ("You should read chapter five.", True),
    ):
        (sentence,), _ = await judged(answer, 0.95, "What should I read?", references=mail)
        assert sentence.supported is supported


async def test_a_bare_yes_to_what_a_study_only_asks_is_not_supported() -> None:
    aim, question = "We examined whether naps help nurses to remember.", "Do naps help nurses to remember?"
    result = "Those who slept recalled eleven words."
    title = "Do naps help nurses to remember?"
    for text, supported in ((f"{aim} {result}", False), (f"{result} So naps help nurses to remember.", True)):
        references = [Reference(1, "naps.md", title, text, 0.8)]
        (sentence,), asked = await judged(
            "Yes, naps help nurses to remember.", 0.95, question, references=references
        )
        assert sentence.supported is supported
        assert aim not in asked[0][1]


async def test_only_the_sentences_with_words_of_the_claim_are_judged() -> None:
    _, asked = await judged("The canal is 193 kilometers long, and a ship needs sixteen hours.")
    assert asked[0][1] == f"Length: {LENGTH}"


async def test_a_yes_to_what_the_reference_denies_or_to_another_number_is_not_supported() -> None:
    for year, supported in ((1869, True), (1975, False)):  # ships passed again in 1975
        answer, question = f"Yes, the Suez Canal opened in {year}.", f"Did the Suez Canal open in {year}?"
        (sentence,), _ = await judged(answer, 0.95, question)
        assert sentence.supported == supported
    rules = [Reference(1, "https://example.org/1", "Rules", "Ships may not tow lighters.", 0.6)]
    (sentence,), _ = await judged(
        "Yes, ships may tow lighters.", 0.95, "May ships tow lighters?", references=rules
    )
    assert (sentence.supported, sentence.citations) == (False, ())


@pytest.mark.parametrize(("item", "supported"), [(0.3, [False, False]), (0.9, [True, True])])
async def test_what_introduces_others_is_supported_only_with_one_of_them(
    item: float, supported: list[bool]
) -> None:
    facts = (
        "The work of ten years on the Suez Canal has these facts:\n\nA ship needs 16 hours for its length."
    )
    sentences, _ = await judged(facts, {"Suez Canal": 0.9, "Length": item})
    assert [each.supported for each in sentences] == supported
