"""Short completions by a service, with a grammar in the form that it takes."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from citewell.generator.causal import Sampling
from citewell.generator.chat_client import ChatClient
from citewell.generator.completer import ChatCompleter, CompletedText

from .chat_service import ChatService, whole

MESSAGES = [{"role": "user", "content": "What next?"}]
GREEDY = Sampling(0.8, 4)
GRAMMAR = 'root ::= "Back" | "Top"'


async def sent(grammar_as: str = "", sampling: Sampling = GREEDY, grammar: str = GRAMMAR) -> Any:
    async def handle(request: web.Request) -> web.Response:
        return web.json_response(whole("Back", finish="length"))

    async with ChatService([handle]) as service, ChatClient("tiny", service.url) as client:
        completer = ChatCompleter(client, grammar_as=grammar_as)
        done = await completer.complete(MESSAGES, most=9, sampling=sampling, grammar=grammar)
        assert done == CompletedText("Back", 3, cut=True)
        assert completer.name == "openai:tiny"
    return service.requests[0]


@pytest.mark.parametrize(
    ("grammar_as", "expected"),
    [
        ("structured_outputs", {"structured_outputs": {"grammar": GRAMMAR}}),
        ("guided_grammar", {"guided_grammar": GRAMMAR}),
        ("grammar", {"grammar": GRAMMAR}),
        ("", {}),
    ],
)
async def test_the_grammar_goes_where_the_service_takes_it(grammar_as: str, expected: dict[str, Any]) -> None:
    plain = {"model": "tiny", "messages": MESSAGES, "max_tokens": 9, "temperature": 0.0, "seed": 4}
    assert await sent(grammar_as) == plain | expected


async def test_without_a_grammar_none_is_sent() -> None:
    assert "structured_outputs" not in await sent("structured_outputs", grammar="")


async def test_a_sampled_completion_has_a_temperature() -> None:
    assert (await sent(sampling=Sampling(0.8, 4, single=True)))["temperature"] == 0.8
