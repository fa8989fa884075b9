"""A question answered by a model elsewhere: a local service that writes what the test wants."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from citewell.core.errors import ServiceKeyRefusedError, ServiceUnreachableError
from citewell.core.events import Done
from citewell.core.settings import Settings
from citewell.core.types import Answer
from citewell.pipeline.build import open_pipeline
from tests.generator.chat_service import ChatService, yes_or_no

BATS = "How do bats find their way in the dark?"
ANSWER = "Bats find their way in the dark by echolocation[1]. They also read maps[2]."
Make = Callable[..., Settings]


async def ask(settings: Settings) -> Answer:
    async with open_pipeline(settings) as pipeline, aclosing(pipeline.ask(BATS)) as stream:
        events = [event async for event in stream]
    assert isinstance(events[-1], Done)
    return events[-1].answer


async def complete(request: web.Request) -> web.Response:
    if request.headers.get("Authorization") != "Bearer sk-right":
        return web.json_response({"error": {"message": "Wrong key"}}, status=401)
    choice = {"message": {"content": ANSWER}, "finish_reason": "stop"}
    return web.json_response({"choices": [choice]})


async def test_an_answer_from_elsewhere_is_checked_like_any_other(settings: Make) -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    async with TestServer(app, host="127.0.0.1") as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        flags = {"generator.name": "openai:tiny", "generator.base_url": url}
        answer = await ask(settings(**flags, **{"generator.key": "sk-right"}))
        with pytest.raises(ServiceKeyRefusedError, match="Wrong key") as caught:
            await ask(settings(**flags, **{"generator.key": "sk-wrong"}))
    assert answer.outcome == "answered"
    assert answer.models["generator"] == "openai:tiny"
    assert [sentence.supported for sentence in answer.sentences] == [True, False]
    assert "sk-" not in str(caught.value)


async def test_a_service_that_is_down_is_named(settings: Make) -> None:
    flags = {"generator.name": "openai:tiny", "generator.base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(ServiceUnreachableError, match=r"127\.0\.0\.1:9") as caught:
        await ask(settings(**flags, **{"generator.seconds": 0.1}))
    assert "generator.base_url" in caught.value.hint


async def test_a_model_elsewhere_judges_its_own_sentences_if_it_is_asked_to(settings: Make) -> None:
    written, relevance = ANSWER, 0.89

    async def write_or_judge(request: web.Request) -> web.Response:
        body = await request.json()
        if body.get("logprobs"):
            is_claim = "\n\nClaim: " in body["messages"][-1]["content"]
            return web.json_response(yes_or_no(0.3 if is_claim else relevance))
        return web.json_response({"choices": [{"message": {"content": written}, "finish_reason": "stop"}]})

    async with ChatService([write_or_judge]) as http:
        flags = {"generator.name": "openai:tiny", "generator.base_url": http.url}
        plain = await ask(settings(**flags))
        assert len(http.requests) == 1
        judged = await ask(settings(**flags, **{"citations.judge": "writer"}))
        written = ANSWER.replace("by echolocation", "with their noses")
        strict = flags | {"citations.judge": "writer"}
        nothing = await ask(settings(**strict, **{"retriever.reader": "none"}))
        quoted = await ask(settings(**strict))
        relevance = 0.9
        relevant = await ask(settings(**strict, **{"retriever.reader": "none"}))
    assert "judge" not in plain.models
    assert (nothing.outcome, nothing.fallback, nothing.sentences) == ("no_evidence", "unsupported", ())
    assert nothing.quotations
    # The reader is sure that one of them answers, or the model that all do.
    for answer in (quoted, relevant):
        assert (answer.outcome, answer.fallback) == ("answered", "unsupported")
        assert answer.sentences == answer.quotations
    assert nothing.candidates[0].sentences[0].status == "partly"
    assert judged.models["judge"] == "openai:tiny"
    assert [(s.supported, s.status, s.support) for s in judged.sentences] == [
        (True, "supported", 1.0),  # a quotation
        (False, "not_found", 0.0),
    ]
