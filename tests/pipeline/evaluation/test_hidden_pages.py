"""Pages that hold a question word for word are not read in an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.evaluation.truthful_run import holds_question
from tests.conftest import Serve

QUESTION = "What causes the two high tides and two low tides on most coasts each day?"
COPY = "Most coasts have two high tides and two low tides each day. " * 3 + QUESTION


async def test_a_page_of_the_web(settings: Callable[..., Settings], serve: Serve, tmp_path: Path) -> None:
    async def search(request: web.Request) -> web.Response:
        base = f"http://{request.host}"
        results = [{"url": f"{base}/{name}", "title": "Tides"} for name in ("copy", "honest")]
        return web.json_response({"results": results})

    async def copy(request: web.Request) -> web.Response:
        return web.Response(text=f"<title>Forum</title><p>{COPY}</p>", content_type="text/html")

    async def honest(request: web.Request) -> web.Response:
        text = "The Moon's gravity causes two high tides and two low tides each day on most coasts."
        return web.Response(text=f"<title>Tides</title><p>{text}</p>", content_type="text/html")

    base = await serve({"/search": search, "/copy": copy, "/honest": honest})
    own = settings(
        search__providers="searxng",
        search__searxng_url=base,
        fetch__allow_networks="127.0.0.0/8",
        fetch__robots=False,
        generator__name="extractive",
    )
    async with open_pipeline(own) as pipeline:
        open_answer = await final_answer(pipeline.retrieve(QUESTION))
        hiding = replace(pipeline, hides=holds_question)
        answer = await final_answer(hiding.retrieve(QUESTION))
    assert "Forum" in {reference.title for reference in open_answer.references}
    assert not open_answer.failures
    assert {reference.title for reference in answer.references} == {"Tides"}
    assert [(failure.url, failure.kind) for failure in answer.failures] == [(f"{base}/copy", "hidden")]


async def test_a_page_of_a_collection(settings: Callable[..., Settings]) -> None:
    question = "Who said that bats find their way in the dark by echolocation?"
    async with open_pipeline(settings(generator__name="extractive")) as pipeline:
        answer = await final_answer(replace(pipeline, hides=holds_question).retrieve(question))
    assert "hidden" not in {failure.kind for failure in answer.failures}, "only nine words in a row"
    question = "Why do bats find their way in the dark by echolocation a bat sends out?"
    async with open_pipeline(settings(generator__name="extractive")) as pipeline:
        answer = await final_answer(replace(pipeline, hides=holds_question).retrieve(question))
    assert [failure.kind for failure in answer.failures] == ["hidden"]
    assert "How bats find their way" not in {reference.title for reference in answer.references}
