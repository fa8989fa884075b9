"""One process has one of each part: a limit counts once, however many pipelines and browsers share it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.pipeline.browsing import open_browsing
from citewell.pipeline.dense import dense_indexing
from citewell.pipeline.fetching import open_fetcher
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source
from citewell.server.work.options import QuestionOptions
from citewell.server.work.pipelines import open_pipelines

if TYPE_CHECKING:
    from tests.conftest import Serve

QUESTION = "Where do storks spend the winter?"
PAGES = 6
Make = Callable[..., Settings]


async def test_asking_and_browsing_at_once_are_polite_together(settings: Make, serve: Serve) -> None:
    running = most = 0

    async def slow(request: web.Request) -> web.Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.2)
        running -= 1
        text = "White storks spend the winter in Africa, south of the Sahara. " * 3
        return web.Response(text=f"<title>Storks</title><p>{text}</p>", content_type="text/html")

    async def search(request: web.Request) -> web.Response:
        found = [{"url": f"{base}/asked/{n}", "title": "Storks", "content": ""} for n in range(PAGES)]
        return web.Response(text=json.dumps({"results": found}), content_type="application/json")

    base = await serve({"/search": search, "/asked/{n}": slow, "/browsed/{n}": slow})
    chosen = settings(
        search__providers="searxng",
        search__searxng_url=base,
        search__per_domain=PAGES,
        fetch__allow_networks="127.0.0.0/8",
        fetch__host_connections=2,
        fetch__deadline=30,
        fetch__robots=False,
    )
    async with open_pipelines(chosen) as pipelines:
        options = QuestionOptions(QUESTION)
        browsed = await pipelines.web(options)
        opened = [browsed.open(f"{base}/browsed/{n}", QUESTION) for n in range(PAGES)]
        answer, *pages = await asyncio.gather(final_answer(await pipelines.begin(options)), *opened)
    assert answer.failures == ()
    assert {page.kind for page in pages} == {"page"}
    assert most == 2


async def test_fetchers_that_share_their_hosts_are_polite_together(settings: Make, serve: Serve) -> None:
    """As the fetcher of pages and that of the scripts of rendered pages do."""
    running = most = 0

    async def slow(request: web.Request) -> web.Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return web.Response(text="a page")

    base = await serve({"/{n}": slow})
    chosen = settings(fetch__allow_networks="127.0.0.0/8", fetch__host_connections=2, fetch__deadline=30)
    async with (
        open_fetcher(chosen, cache=False) as pages,
        open_fetcher(chosen, cache=False, hosts=pages.hosts) as parts,
    ):
        await asyncio.gather(
            *(fetcher.get_part(f"{base}/{n}") for n in range(4) for fetcher in (pages, parts))
        )
    assert most == 2


_OPENED: list[str] = []
_counting = False


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _counting and event == "open":
        _OPENED.append(str(arguments[0]))


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The files that Python opens in the block."""
    global _counting
    if not _counting:
        sys.addaudithook(_note)
    _counting = True
    _OPENED.clear()
    try:
        yield _OPENED
    finally:
        _counting = False


async def test_browsing_a_dense_collection_loads_the_encoder_once(
    settings: Make, notes: Path, tmp_path: Path
) -> None:
    chosen = settings(data_dir=tmp_path)
    with indexing(EmbeddedCatalog(tmp_path), "notes") as indexer:
        index_documents(indexer, str(notes), read_source(notes))
        with dense_indexing(indexer.store, chosen, dense=True) as encode:
            encode()
    with opened_files() as files:
        async with open_browsing(chosen) as browsing:
            answer = await final_answer(browsing.ask("How do bats find their way in the dark?"))
    assert answer.references
    forms = [file for file in files if Path(file).is_relative_to(chosen.cache_dir / "models")]
    assert forms
    assert len(forms) == len(set(forms))
