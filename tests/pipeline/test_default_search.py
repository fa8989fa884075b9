"""Where nothing is named, Wikipedia is searched, and the handbook for questions about Citewell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from citewell.core.errors import ServiceUnreachableError
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Answer
from citewell.pipeline.build import open_pipeline
from citewell.server.pages.searched import examples, searched, set_up
from tests.conftest import Serve
from tests.retriever.search.test_wikipedia import found, wiki

SKY = "Why is the sky blue?"
ON_CITEWELL = "How does Citewell check a citation?"
PAGE = (
    "<html><head><title>Sky</title></head><body><main><h1>Sky</h1><p>The sky is blue because the air "
    "scatters the short waves of sunlight, which are blue, more than the long ones, which are red.</p></main>"
    "</body></html>"
)


def default_settings(tmp_path: Path, cache: Path, wiki_url: str, **more: Any) -> Settings:
    """Settings of a fresh installation, whose Wikipedia is on this computer."""
    named = {"data_dir": tmp_path, "cache_dir": cache, "search.wikipedia_url": wiki_url, "fetch.cache": False}
    local = {"fetch.allow_networks": "127.0.0.0/8", "fetch.robots": False, "threads": 2}
    return load_settings(named | local | more)


async def ask(settings: Settings, question: str) -> Answer:
    async with open_pipeline(settings) as pipeline:
        return await final_answer(pipeline.ask(question))


async def test_a_question_of_the_world_is_searched_in_wikipedia(
    tmp_path: Path, cache: Path, serve: Serve
) -> None:
    queries: list[str] = []
    address = ""

    async def api(request: web.Request) -> web.StreamResponse:
        queries.append(request.query["srsearch"])
        return await wiki(found("Sky"), server=address, base=f"{address}/wiki/Main_Page")(request)

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    address = await serve({"/w/api.php": api, "/wiki/Sky": page})
    settings = default_settings(tmp_path, cache, f"{address}/w/api.php")
    answer = await ask(settings, SKY)
    assert answer.models["search"] == "wikipedia"
    assert (answer.outcome, answer.references[0].url) == ("answered", f"{address}/wiki/Sky")
    assert queries == [SKY]
    async with open_pipeline(settings, question=f" {SKY} ") as pipeline:
        assert queries == [SKY, SKY], "it is searched before the pipeline is open"
        ahead = await final_answer(pipeline.ask(SKY))
        assert queries == [SKY, SKY]
        assert ahead.references == answer.references
        assert 0 < ahead.timings["search"] < ahead.timings["total"]
        await final_answer(pipeline.ask(f"{SKY} And why is it red in the evening?"))
        assert len(queries) > 2
    queries[:] = [SKY]
    own = await ask(settings, ON_CITEWELL)
    assert own.models["search"] == "collection:handbook"
    assert own.references[0].url.endswith("/docs/citations.md")
    assert queries == [SKY]


async def test_offline_the_error_leads_to_own_files(tmp_path: Path, cache: Path) -> None:
    settings = default_settings(tmp_path, cache, "http://127.0.0.1:9/w/api.php", **{"search.seconds": 1})
    with pytest.raises(ServiceUnreachableError) as caught:
        await ask(settings, SKY)
    assert "citewell index FOLDER --collection NAME" in caught.value.hint
    assert (await ask(settings, ON_CITEWELL)).outcome == "answered"
    named = default_settings(
        tmp_path,
        cache,
        "http://127.0.0.1:9/w/api.php",
        **{"search.providers": "wikipedia", "search.seconds": 1},
    )
    with pytest.raises(ServiceUnreachableError) as alone:
        await ask(named, SKY)
    assert "citewell index" not in alone.value.hint


def test_the_page_says_what_is_searched(tmp_path: Path, cache: Path) -> None:
    settings = default_settings(tmp_path, cache, "http://127.0.0.1:9/w/api.php")
    assert set_up(settings) == "Wikipedia; the handbook about Citewell"
    assert searched(settings, {}, SKY) == "Wikipedia"
    assert searched(settings, {}, ON_CITEWELL) == "Citewell's handbook"
    assert SKY in examples(settings)
    own = default_settings(tmp_path, cache, "", **{"search.collection": "notes"})
    assert searched(own, {}, ON_CITEWELL) == set_up(own) == "the collection notes"
    assert examples(own) == ()
