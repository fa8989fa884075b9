"""A follow-up question in the pipeline, rewritten by a language model behind HTTP, or by the rule."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from aiohttp import web

from citewell.core.events import Done, Event, Rewritten
from citewell.core.settings import Settings
from citewell.core.types import Answer, Turn
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.conversation.asking import ask_in_turn
from tests.generator.chat_service import ChatService, whole
from tests.notes import notes, settings, shared_data

__all__ = ["notes", "settings", "shared_data"]

BATS = "How do bats find their way in the dark?"
TURNS = [Turn(BATS, "Bats find their way by echolocation.")]
FOLLOW_UP = "What do they send out?"
BY_RULE = "What do bats send out?"
BY_MODEL = "What calls do bats send out in the dark?"
Make = Callable[..., Settings]


async def ask(settings: Settings, turns: list[Turn] = TURNS) -> tuple[list[Event], Answer]:
    async with (
        open_pipeline(settings) as pipeline,
        aclosing(ask_in_turn(pipeline, FOLLOW_UP, turns)) as stream,
    ):
        events = [event async for event in stream]
    assert isinstance(events[-1], Done)
    return events, events[-1].answer


async def ask_model(settings: Make, written: str | None, status: int = 200) -> tuple[Answer, ChatService]:
    async def rewrite(request: web.Request) -> web.Response:
        return web.json_response(whole(written) if status == 200 else {}, status=status)

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(whole("Bats find their way in the dark by echolocation[1]."))

    async with ChatService([rewrite, answer]) as service:
        named = {"generator.name": "openai:tiny", "generator.base_url": service.url}
        _, found = await ask(settings(**named, **{"citations.judge": "words"}))
        return found, service


async def test_without_a_language_model_the_rule_rewrites(settings: Make) -> None:
    events, answer = await ask(settings())
    assert [event.question for event in events if isinstance(event, Rewritten)] == [BY_RULE]
    assert (answer.question, answer.rewritten) == (FOLLOW_UP, BY_RULE)
    assert all(sentence.supported for sentence in answer.sentences)
    assert answer.to_json()["rewritten"] == BY_RULE


async def test_without_turns_a_question_is_asked_as_it_is(settings: Make) -> None:
    events, answer = await ask(settings(), [])
    assert not any(isinstance(event, Rewritten) for event in events)
    assert answer.to_json()["rewritten"] is None
    assert "rewrite" not in answer.timings


async def test_the_language_model_reads_the_turns_and_rewrites(settings: Make) -> None:
    answer, service = await ask_model(settings, f"{BY_MODEL}\nI hope this helps!")
    assert answer.rewritten == BY_MODEL
    assert BATS in str(service.requests[0]["messages"])
    assert "echolocation" in str(service.requests[0]["messages"])
    assert f"Question: {BY_MODEL}" in str(service.requests[1]["messages"])


async def test_what_is_no_question_of_the_same_words_is_not_asked(settings: Make) -> None:
    for written in (FOLLOW_UP, "Bats are mammals.", "", "What do they send out " + "and so on " * 60):
        answer, _ = await ask_model(settings, written)
        assert answer.rewritten == BY_RULE


async def test_a_language_model_that_fails_leaves_it_to_the_rule(settings: Make) -> None:
    answer, _ = await ask_model(settings, None, status=400)
    assert answer.rewritten == BY_RULE
    assert answer.notices[0].startswith("The question was completed by a rule: ")
