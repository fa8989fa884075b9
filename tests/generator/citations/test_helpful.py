"""Sentences that stand beside the answer, as a model over HTTP judges them."""

from __future__ import annotations

import re

from aiohttp import web

from citewell.core.types import Sentence
from citewell.generator.chat_client import ChatClient
from citewell.generator.citations.helpful import helpful
from citewell.generator.yes import ApiYesModel
from tests.generator.chat_service import ChatService, yes_or_no

FIRST = Sentence("Air scatters blue light.", (1,), 1.0, supported=True, before="")
BESIDE = Sentence("A dark band is named after Alexander.", (2,), 1.0, supported=True, before=" ")
MORE = Sentence("Red light passes.", (1,), 1.0, supported=True, before=" ")
ITEM = Sentence("Alexander's band", (2,), 1.0, supported=True, before="\n- ")


async def kept(*sentences: Sentence, likely: float = 0.59) -> tuple[tuple[Sentence, ...], list[str]]:
    """The sentences that are left where Alexander has this probability, and those that were asked about."""
    asked: list[str] = []

    async def service(request: web.Request) -> web.StreamResponse:
        content = (await request.json())["messages"][-1]["content"]
        found = re.search(r"Question: Why is the sky blue\?\n\nSentence: (.*)\n\n", content)
        assert found
        asked.append(found[1])
        return web.json_response(yes_or_no(likely if "Alexander" in found[1] else 0.9))

    async with ChatService([service]) as http, ChatClient("tutor", http.url) as client:
        return await helpful(ApiYesModel(client), "Why is the sky blue?", sentences), asked


async def test_what_does_not_help_is_left_out() -> None:
    assert (await kept(FIRST, BESIDE, MORE))[0] == (FIRST, MORE)


async def test_what_helps_stays() -> None:
    assert (await kept(FIRST, BESIDE, MORE, likely=0.6))[0] == (FIRST, BESIDE, MORE)


async def test_the_first_sentence_and_lists_stay_and_are_not_asked_about() -> None:
    first = Sentence(BESIDE.text, (2,), 1.0, supported=True, before="")
    sentences, asked = await kept(first, ITEM, MORE)
    assert sentences == (first, ITEM, MORE)
    assert asked == [MORE.text]
