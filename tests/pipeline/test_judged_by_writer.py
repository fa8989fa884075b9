"""Answers that the model that wrote them judges: a local service says what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.core.types import Answer, Reference
from citewell.pipeline.build import open_pipeline
from tests.generator.chat_service import ChatService, whole, yes_or_no

Make = Callable[..., Settings]
SEES = "What does Hamlet see?"


async def judged(
    settings: Make,
    question: str,
    written: str,
    passage: str,
    yes: Callable[[str], float],
    **flags: Any,
) -> Answer:
    """Answer from one passage with what is written; `yes` gives the probability of yes for what is asked."""

    async def write_or_judge(request: web.Request) -> web.Response:
        body = await request.json()
        asked = body["messages"][-1]["content"]
        return web.json_response(yes_or_no(yes(asked)) if body.get("logprobs") else whole(written))

    reference = Reference(1, "https://hamlet.example/", "Hamlet", passage, 0.9)
    async with ChatService([write_or_judge]) as http:
        own = {"generator.name": "openai:tiny", "generator.base_url": http.url, "citations.judge": "writer"}
        async with open_pipeline(settings(**own, **flags)) as pipeline:
            return await final_answer(pipeline.write(question, [reference]))


async def test_what_is_true_but_does_not_answer_is_not_shown(settings: Make) -> None:
    written = "Ghosts walk[1]. Hamlet sees one[1]. Pizza delights everybody nightly[1]."
    passage, asked = "Ghosts walk. Hamlet sees one.", list[str]()

    def likely(content: str) -> float:
        asked.append(content)
        return 0.65

    beside = await judged(settings, "What is Ophelia's age?", written, passage, lambda content: 0.64)
    shown = await judged(settings, SEES, written, passage, likely)
    assert (beside.outcome, beside.fallback, beside.sentences) == ("no_evidence", "irrelevant", ())
    assert [each.supported for each in beside.candidates[0].sentences] == [True, True, False]
    assert (shown.outcome, shown.fallback) == ("answered", None)
    assert f"Page: Hamlet\nSentence: Ghosts walk. Hamlet sees one.\n\nQuestion: {SEES}" in asked[-1]


async def test_quotations_that_answer_stand_for_what_does_not(settings: Make) -> None:
    def likely(content: str) -> float:
        return 0.9 if "Sentence: Hamlet sees a ghost." in content else 0.6

    passage = "Pizza delights everybody. Hamlet sees a ghost."
    flags = {"retriever.reader": "none"}
    answer = await judged(settings, SEES, "Pizza delights everybody[1].", passage, likely, **flags)
    assert (answer.outcome, answer.fallback) == ("answered", "irrelevant")
    assert answer.answer == "Hamlet sees a ghost. [1]"
    assert answer.candidates[0].text == "Pizza delights everybody. [1]"


@pytest.mark.parametrize(("likely", "outcome"), [(0.69, "no_evidence"), (0.71, "answered")])
async def test_an_answer_must_be_more_relevant_without_its_first_sentence(
    settings: Make, likely: float, outcome: str
) -> None:
    written = "Hamlet sees 17 ghosts[1]. Ghosts walk[1]."  # a number that the passage lacks
    answer = await judged(settings, SEES, written, "Ghosts walk. Hamlet sees one.", lambda content: likely)
    assert [sentence.supported for sentence in answer.candidates[0].sentences] == [False, True]
    assert answer.outcome == outcome


@pytest.mark.parametrize(
    ("quoted", "answer", "fallback"),
    [(0.9, "Hamlet sees a ghost. [1]", "unsupported"), (0.84, "Ghosts walk. [1]", None)],
)
async def test_better_quotations_stand_for_an_answer_without_its_first_sentence(
    settings: Make, quoted: float, answer: str, fallback: str | None
) -> None:
    def likely(content: str) -> float:
        return quoted if "Sentence: Hamlet sees a ghost." in content else 0.8

    written = "Hamlet sees 17 ghosts[1]. Ghosts walk[1]."  # a number that the passage lacks
    passage = "Ghosts walk. Hamlet sees a ghost."
    flags = {"retriever.reader": "none", "citations.drop_unsupported": True}
    found = await judged(settings, SEES, written, passage, likely, **flags)
    assert (found.answer, found.fallback) == (answer, fallback)


async def test_a_later_sentence_that_does_not_help_is_left_out(settings: Make) -> None:
    def likely(content: str) -> float:
        return 0.5 if content.endswith("help to answer the question?") else 0.9

    written = "Hamlet sees ghosts, as stated in the reference[1]. Pizza delights everybody[1]."
    answer = await judged(settings, SEES, written, "Hamlet sees ghosts. Pizza delights everybody.", likely)
    assert answer.answer == "Hamlet sees ghosts. [1]"


async def test_a_quotation_without_a_citation_is_no_answer(settings: Make) -> None:
    passage = "What is it? It is what it is. To be or not to be, that is it."
    written = "Hamlet asks about death[1]."
    answer = await judged(settings, "To be or not to be?", written, passage, lambda content: 0.1)
    assert [quotation.citations for quotation in answer.quotations] == [()]
    assert (answer.outcome, answer.fallback) == ("no_evidence", "unsupported")
