"""What a reader of a page cannot see is no evidence, from the server of the page to the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.pipeline.build import open_pipeline
from tests.generator.chat_service import ChatService, whole

if TYPE_CHECKING:
    from tests.conftest import Serve

QUESTION = "Where do white storks spend the winter?"
SEEN = "White storks leave Europe in August, and come back to their nests in spring."
HIDDEN = "White storks spend the winter on the moon, where it is warm."
STYLES = {
    "/seen": ".note { font-style: italic }",
    "/none": ".note { display: none }",
    "/white": "main { background: #fff } .note { color: white }",
}
Make = Callable[..., Settings]


@pytest.fixture
async def storks(serve: Serve) -> str:
    """A server whose search finds the page whose path is the last word of the query."""

    async def search(request: web.Request) -> web.Response:
        path = request.query["q"].rpartition(" ")[2]
        hit = {"url": f"{base}/{path}", "title": "Storks", "content": ""}
        return web.json_response({"results": [hit]})

    async def page(request: web.Request) -> web.Response:
        body = f"<main><h1>Storks</h1><p>{SEEN}</p><p class=note>{HIDDEN}</p><p>Storks eat frogs.</p></main>"
        text = f"<title>Storks</title><style>{STYLES[request.path]}</style><body>{body}</body>"
        return web.Response(text=text, content_type="text/html")

    base = await serve({"/search": search, **dict.fromkeys(STYLES, page)})
    return base


@pytest.mark.parametrize("path", STYLES)
async def test_a_hidden_sentence_is_in_no_reference_quotation_and_prompt(
    settings: Make, storks: str, path: str
) -> None:
    async def write(request: web.Request) -> web.Response:
        return web.json_response(whole(f"{HIDDEN[:-1]} [1]."))

    web_of_storks = {
        "search.providers": "searxng",
        "search.searxng_url": storks,
        "fetch.allow_networks": "127.0.0.0/8",
        "retriever.min_relevance": 0.0,
    }
    question = f"{QUESTION} {path[1:]}"
    async with ChatService([write]) as http:
        writer = {"generator.name": "openai:tiny", "generator.base_url": http.url}
        async with open_pipeline(settings(**web_of_storks, **writer)) as pipeline:
            written = await final_answer(pipeline.ask(question))
            quoted = await final_answer(pipeline.quoting(5).ask(question))
            found = await final_answer(pipeline.retrieve(question))
    (prompt,) = (json.dumps(each) for each in http.requests)
    texts = [reference.text for each in (written, quoted, found) for reference in each.references]
    assert len(texts) == 3
    assert all(SEEN in text for text in (*texts, prompt))
    quotations = " ".join(sentence.text for sentence in (*quoted.sentences, *written.quotations))
    is_seen = path == "/seen"
    assert [HIDDEN in text for text in (*texts, prompt, quotations)] == [is_seen] * 5
    assert written.candidates[0].sentences[0].supported == is_seen
