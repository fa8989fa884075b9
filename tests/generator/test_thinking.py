"""Thinking in the text of an answer is left out, however the text comes."""

from __future__ import annotations

import pytest
from aiohttp import web

from citewell.generator.chat_client import ChatClient
from citewell.generator.completion import CompletionRequest
from citewell.generator.thinking import ThinkingCut, without_thinking
from tests.generator.chat_service import ChatService, chunk, streamed, whole

THOUGHT = "<think>\nThe user asks. It is <b>blue</b>, I think.\n</think>\n\nThe sky is blue. [1]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (THOUGHT, "The sky is blue. [1]"),
        ("\n" + THOUGHT, "The sky is blue. [1]"),
        ("<think>The limit of tokens cut", ""),
        ("<think></think>", ""),
        ("The sky <think>is</think> blue.", "The sky <think>is</think> blue."),
        ("<thin", "<thin"),
        ("<b>Bold.</b>", "<b>Bold.</b>"),
        ("", ""),
    ],
)
def test_only_what_the_text_begins_with_is_left_out(text: str, left: str) -> None:
    assert without_thinking(text) == left
    for size in (1, 3, 7):
        cut = ThinkingCut()
        pieces = [cut.take(text[start : start + size]) for start in range(0, len(text), size)]
        assert "".join(pieces) + cut.end() == left


async def test_a_service_that_thinks_in_the_answer() -> None:
    async def stream(request: web.Request) -> web.StreamResponse:
        pieces = [chunk(half, index) for half in (THOUGHT[:30], THOUGHT[30:]) for index in range(2)]
        return await streamed(request, *pieces, chunk("", 0, "stop"), chunk("", 1, "stop"))

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response(whole(THOUGHT))

    asked = [{"role": "user", "content": "Why?"}]
    async with ChatService([stream, answer]) as http, ChatClient("tiny", http.url) as client:
        texts = ["", ""]
        async for delta in client.stream(asked, CompletionRequest(max_tokens=20, n=2)):
            texts[delta.index] += delta.text
        completion = await client.complete(asked, CompletionRequest(max_tokens=20))
    assert [*texts, completion.text] == ["The sky is blue. [1]"] * 3
