"""A local web to browse: 4,598 articles of Wikipedia for Schools, their index pages, and a search.

    python -m benchmarks.browse_web --data-dir FOLDER

indexes the articles under the addresses at which it then serves them, until it is stopped. The browser uses
the same folder and must be allowed to fetch from this machine:

    citewell browse "How do volcanoes form?" --collection schools --set data_dir=FOLDER \
        --set fetch.allow_networks=127.0.0.0/8,::1/128
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import socket
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from benchmarks.local_web import read_articles
from benchmarks.results_files import external_data
from citewell.browser.page import TextPage, error_page
from citewell.browser.results import results_page
from citewell.browser.simplify import simplify
from citewell.core.settings import Settings, load_settings
from citewell.pipeline.fetching import sandbox_limits
from citewell.retriever.collection.collection import Collection
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.search.query import Query

COLLECTION = "schools"
HOST = "localhost"
PORT = 8459
"""Fixed, since the addresses of pages are in the index and in demonstrations."""
HITS = 10
_SIMPLIFIED = 256


def main() -> None:
    """Index and serve the articles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
    settings = browse_settings(parser.parse_args().data_dir)
    index_web(settings)
    asyncio.run(_serve())


def browse_settings(data_dir: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return settings for searching the articles, and for fetching them from this machine."""
    ours = {
        "data_dir": data_dir,
        "search.collection": COLLECTION,
        "fetch.allow_networks": "127.0.0.0/8,::1/128",
    }
    return load_settings(ours | dict(flags or {}))


def address(path: str) -> str:
    """Return the address of the page at a path such as `/wiki/Tea`."""
    return f"http://{HOST}:{PORT}{path}"


def index_web(settings: Settings) -> None:
    """Index the articles, which takes a minute the first time."""
    documents = (SourceDocument(address(path), body, "text/html") for path, body in read_articles().items())
    with indexing(EmbeddedCatalog(settings.data_dir), COLLECTION) as indexer:
        report = index_documents(indexer, COLLECTION, documents, sandbox=sandbox_limits(settings))
    print(f"{report.added + report.unchanged:,} articles are indexed, {len(report.failures)} failed.")


def read_web() -> dict[str, bytes]:
    """Read the HTML of the articles and of the index pages, by unquoted path."""
    file = external_data() / "web" / "wikispeedia" / "index_pages.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        lists = {row["path"]: row["html"].encode() for row in map(json.loads, lines)}
    return {unquote(path): body for path, body in (read_articles() | lists).items()}


@asynccontextmanager
async def served_web() -> AsyncGenerator[None, None]:
    """Serve the web on loopback, compressed; use a server that is already running."""
    if _is_served():
        yield
        return
    pages = {path: gzip.compress(body, 1) for path, body in read_web().items()}

    async def answer(request: web.Request) -> web.Response:
        body = pages.get(request.rel_url.path)
        if body is None:
            return web.Response(status=404)
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Encoding": "gzip",
            "Cache-Control": "max-age=86400",
        }
        return web.Response(body=body, headers=headers)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", PORT).start()
        yield
    finally:
        await runner.cleanup()


class ShelfWeb:
    """The same web without HTTP, for many episodes: pages as `citewell.browser.live_web` shows them."""

    def __init__(self, collection: Collection, pages: Mapping[str, bytes]) -> None:
        """`pages` come from `read_web`."""
        self._collection = collection
        self._pages = pages
        self._simplified: OrderedDict[str, TextPage] = OrderedDict()

    async def search(self, query: str) -> TextPage:
        """Search the collection."""
        return results_page(query, await self._collection.search(Query(query, HITS)))

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Simplify a page, without the censor."""
        path = unquote(url.removeprefix(address("")))
        if path not in self._pages:
            return error_page(url, "HTTP 404")
        if path not in self._simplified:
            self._simplified[path] = simplify(self._pages[path], url, "text/html; charset=utf-8")
            if len(self._simplified) > _SIMPLIFIED:
                self._simplified.popitem(last=False)
        return self._simplified[path]


def open_shelf(settings: Settings) -> ShelfWeb:
    """Open the web without HTTP."""
    return ShelfWeb(Collection(EmbeddedCatalog(settings.data_dir).open(COLLECTION)), read_web())


def _is_served() -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", PORT)) == 0


async def _serve() -> None:
    async with served_web():
        print(f"Serving {address('/')} until it is stopped.", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
