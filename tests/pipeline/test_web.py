"""Questions to the web: a real server that speaks SearXNG and serves good and bad pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from citewell.core.errors import FetchError, ServiceError
from citewell.core.events import Done, Fetched
from citewell.core.settings import Settings
from citewell.core.types import Answer, Hit
from citewell.generator.extractive import ExtractiveGenerator
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.pipeline import Limits, Pipeline
from citewell.pipeline.providers import OpenedSearch
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.parts import parts
from citewell.retriever.rank import Ranker
from citewell.retriever.search.metasearch import Metasearch
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Query
from citewell.retriever.stage import WaitPolicy
from citewell.scorer.scorer import SupportScorer

if TYPE_CHECKING:
    from tests.conftest import Handler, Serve

QUESTION = "Where do storks spend the winter?"
GOOD = "White storks spend the winter in Africa, south of the Sahara."
CHARSET = "In the winter the storks of Château-d’Œx café terraces have left for Africa."
DEADLINE = 1.0
Make = Callable[..., Settings]


def html(text: str) -> str:
    filler = "The village counts its nests every year."
    body = f"<main><h1>Storks</h1><p>{text}</p><p>{filler}</p></main>"
    return f"<html><head><title>Storks</title></head><body>{body}</body></html>"


def page(body: bytes, content_type: str = "text/html; charset=utf-8") -> Handler:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Type": content_type})

    return answer


@pytest.fixture
async def storks(serve: Serve) -> AsyncIterator[str]:
    """The address of a server whose search finds five pages, of which two can be read."""
    over = asyncio.Event()
    results: list[dict[str, str]] = []

    async def search(request: web.Request) -> web.Response:
        assert request.query["format"] == "json"
        found = results if "storks" in request.query["q"] else []
        return web.Response(text=json.dumps({"results": found}), content_type="application/json")

    async def hang(request: web.Request) -> web.Response:
        await asyncio.wait_for(over.wait(), 120)
        return web.Response(text="late")

    async def gone(request: web.Request) -> web.Response:
        raise web.HTTPNotFound

    handlers = {
        "/good.html": page(html(GOOD).encode()),
        "/charset.html": page(html(CHARSET).encode("windows-1252")),
        "/gone.html": gone,
        "/hang.html": hang,
        "/image.html": page(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "text/html"),
    }
    base = await serve({"/search": search, **handlers})
    results += [{"url": base + path, "title": f"Page {path}", "content": ""} for path in handlers]
    yield base
    over.set()


async def ask(settings: Settings, question: str = QUESTION) -> Answer:
    async with open_pipeline(settings) as pipeline, aclosing(pipeline.ask(question)) as stream:
        *_, last = [event async for event in stream]
    assert isinstance(last, Done)
    return last.answer


async def test_good_pages_answer_and_bad_ones_are_named(settings: Make, storks: str) -> None:
    answer = await ask(
        settings(
            search__providers="searxng",
            search__searxng_url=storks,
            fetch__deadline=DEADLINE,
            fetch__allow_networks="127.0.0.0/8",
        )
    )
    assert answer.outcome == "answered"
    assert GOOD in [sentence.text for sentence in answer.sentences]
    assert any(CHARSET in reference.text for reference in answer.references)
    assert all(reference.dated.startswith("as of 20") for reference in answer.references)
    reasons = {failure.url.removeprefix(storks): failure.reason for failure in answer.failures}
    assert set(reasons) == {"/gone.html", "/hang.html", "/image.html"}
    assert "404" in reasons["/gone.html"]
    assert "late: no answer within 1.0 s" in reasons["/hang.html"]
    assert reasons["/image.html"]
    assert DEADLINE <= answer.timings["fetch"] < DEADLINE + 3
    assert answer.models["search"] == "searxng"


async def test_a_cache_that_fails_is_told_once_and_fails_no_question(
    settings: Make, storks: str, tmp_path: Path, minilm_folder: Path, cache: Path
) -> None:
    (tmp_path / "web" / "pages.db").mkdir(parents=True)  # no file can be there
    weights = minilm_folder.relative_to(cache).parts[0]
    (tmp_path / weights).symlink_to(cache / weights)
    broken = settings(
        search__providers="searxng",
        search__searxng_url=storks,
        fetch__deadline=DEADLINE,
        fetch__allow_networks="127.0.0.0/8",
        fetch__cache=True,
        cache_dir=tmp_path,
    )
    async with open_pipeline(broken) as pipeline:
        answers = []
        for _ in range(2):
            async with aclosing(pipeline.retrieve(QUESTION)) as stream:
                events = [event async for event in stream]
            assert isinstance(events[-1], Done)
            answers.append(events[-1].answer)
    first, second = ([notice for notice in answer.notices if "cache" in notice] for answer in answers)
    assert len(first) == 1
    assert "cannot be used" in first[0]
    assert second == []
    assert answers[1].references


async def test_a_warning_belongs_to_the_question_that_caused_it(
    settings: Make, serve: Serve, tmp_path: Path, minilm_folder: Path, cache: Path
) -> None:
    asked, release = asyncio.Event(), asyncio.Event()

    async def slow(request: web.Request) -> web.Response:
        asked.set()
        await release.wait()
        return web.Response(text=html(GOOD), content_type="text/html")

    base = await serve({"/slow": slow, "/fast": page(html(GOOD).encode())})
    (tmp_path / "web" / "pages.db").mkdir(parents=True)  # no file can be there
    weights = minilm_folder.relative_to(cache).parts[0]
    (tmp_path / weights).symlink_to(cache / weights)
    broken = settings(
        fetch__allow_networks="127.0.0.0/8", fetch__cache=True, fetch__deadline=60, cache_dir=tmp_path
    )

    async def notices(path: str) -> tuple[str, ...]:
        found = pipeline.varied(search=OpenedSearch(Metasearch([_Listed(base + path)])))
        async with aclosing(found.retrieve(QUESTION)) as stream:
            (answer,) = [event.answer async for event in stream if isinstance(event, Done)]
        return answer.notices

    async with open_pipeline(broken) as pipeline:
        first = asyncio.create_task(notices("/slow"))
        await asyncio.wait_for(asked.wait(), 60)
        assert await notices("/fast") == ()
        release.set()
        (warning,) = await first
    assert "cannot be used" in warning


async def test_private_addresses_are_refused_unless_they_are_allowed(settings: Make, storks: str) -> None:
    answer = await ask(settings(search__providers="searxng", search__searxng_url=storks))
    assert (answer.outcome, answer.references) == ("no_evidence", ())
    assert len(answer.failures) == 5
    assert all("not a public address" in failure.reason for failure in answer.failures)


async def test_search_without_hits_is_no_evidence(settings: Make, storks: str) -> None:
    answer = await ask(settings(search__providers="searxng", search__searxng_url=storks), "Anything else?")
    assert (answer.outcome, answer.references, answer.failures) == ("no_evidence", (), ())


async def test_search_that_fails_ends_the_question(settings: Make, serve: Serve) -> None:
    base = await serve({"/search": page(b"busy", "text/plain")})
    with pytest.raises(ServiceError, match="SearXNG"):
        await ask(settings(search__providers="searxng", search__searxng_url=base))


class _Listed:
    """Finds the same URLs, whatever is asked."""

    name = "listed"
    scope: Scope = "web"

    def __init__(self, *urls: str) -> None:
        self._urls = urls

    def notices(self, query: Query) -> list[str]:
        return []

    async def search(self, query: Query) -> list[Hit]:
        return [Hit(url, "Storks") for url in self._urls]


@pytest.mark.parametrize("method", ["ask", "retrieve"])
async def test_closing_the_stream_cancels_what_is_still_fetched(
    ranker: Ranker, sandbox: Sandbox, method: str
) -> None:
    running: set[str] = set()

    async def fetch(request: PageRequest) -> Download:
        url = request.url
        if url == "https://fast.example/":
            return Download(url, "text/html", html(GOOD).encode(), 200, url)
        running.add(url)
        try:
            await asyncio.sleep(30)
        finally:
            running.remove(url)
        raise FetchError("late")

    urls = ("https://slow.example/1", "https://fast.example/", "https://slow.example/2")
    pipeline = Pipeline(
        search=OpenedSearch(Metasearch([_Listed(*urls)])),
        fetch=fetch,
        extractor=sandbox,
        ranker=ranker,
        generator=ExtractiveGenerator(ranker.scores, sentences=5, split=parts),
        scorer=SupportScorer(),
        limits=Limits(
            hits=10,
            k=5,
            wait=WaitPolicy(deadline=30.0),
            min_relevance=0.5,
            threshold=0.5,
            drop_unsupported=False,
            best_of=1,
            question_characters=4000,
        ),
    )
    async with aclosing(getattr(pipeline, method)(QUESTION)) as stream:
        async for event in stream:
            if isinstance(event, Fetched):
                assert len(running) == 2
                break
        else:
            raise AssertionError("the fast page did not come")
    assert running == set()
