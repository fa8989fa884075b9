"""Places to search, each with a page of its own: two collections, a Wikipedia, a SearXNG, a Bing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source
from tests.retriever.search.test_wikipedia import GENERAL, found
from tests.server.local import ReplyHandler, answering

QUESTION = "How do bats find their way in the dark?"
_TEXTS = {
    "field": "Bats find their way in the dark by echolocation: in June we heard 40 calls a second.",
    "zoo": "At the zoo, bats find their way in the dark by their ears, and eat 200 mangoes a week.",
    "wiki": "Bats find their way in the dark with echoes of their own calls, as Griffin showed in 1938.",
    "web": "To find their way in the dark, bats call through the mouth or the nose at 100 kilohertz.",
    "bing": "Horseshoe bats have noses like a trumpet, with which they find their way in the dark.",
}


@contextmanager
def four_places(folder: Path) -> Iterator[dict[str, Any]]:
    """Serve and index the places; yield the settings of a service that may search all of them."""

    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            address = urlsplit(self.path)
            match address.path:
                case "/w/api.php":
                    general = GENERAL | {"server": url, "base": f"{url}/wiki/Main_Page"}
                    hits = {"searchinfo": {"totalhits": 1}, "search": [found("Bats")], "general": general}
                    self.reply(json.dumps({"batchcomplete": True, "query": hits}).encode())
                case "/search":
                    hit = {"url": f"{url}/bats-on-the-web", "title": "Calls", "content": _TEXTS["web"]}
                    self.reply(json.dumps({"results": [hit]}).encode())
                case "/v7.0/search":
                    hit = {"url": f"{url}/bats-by-bing", "name": "Noses", "snippet": _TEXTS["bing"]}
                    pages = {"_type": "SearchResponse", "webPages": {"value": [hit]}}
                    self.reply(json.dumps(pages).encode())
                case path:
                    kind = "wiki" if path.startswith("/wiki/") else path.removeprefix("/bats-by-")
                    text = _TEXTS.get(kind, _TEXTS["web"])
                    page = f"<html><title>Bats</title><body><main><h1>Bats</h1><p>{text}</p></main>"
                    self.reply(page.encode(), "text/html")

    with answering(Handler) as url:
        for name in ("field", "zoo"):
            notes = folder / "sources" / name
            notes.mkdir(parents=True)
            (notes / "bats.md").write_text(f"# Bats of the {name}\n\n{_TEXTS[name]}\n")
            with indexing(EmbeddedCatalog(folder), name) as indexer:
                index_documents(indexer, str(notes), read_source(notes))
        yield {
            "data_dir": folder,
            "search.collection": "field",
            "search.providers": "collection,searxng",
            "search.searxng_url": url,
            "search.wikipedia_url": f"{url}/w/api.php",
            "fetch.allow_networks": "127.0.0.0/8",
            "fetch.robots": False,
            "retriever.k": 8,
        }
