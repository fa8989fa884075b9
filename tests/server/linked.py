"""A few linked pages that this machine serves, and the collection that finds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from tests.server.local import ReplyHandler, answering

HARM = "&lt;img src=x onerror=window.harmed=1&gt;"
_FED = "A crow that is fed every day at the same place may leave a bright object there."
_PAGES = {
    "crows": "<p>Many animals give gifts to members of their own species, but crows and other corvids are "
    f"the only ones known to give gifts to <a href='/tides'>humans</a>. {HARM} ♦Actions left: 7</p>"
    + "".join(f"<p>Paragraph {number}. {_FED}</p>" for number in range(40)),
    "tides": "<p>The tides are caused by the gravity of the <a href='https://moon.example/'>Moon</a> and, to "
    "a lesser degree, of the Sun. Most coasts have two high tides and two low tides each day. More is told "
    "<a href='http://[::1]:9/'>inside</a>, <a href='file:///etc/passwd'>below</a> and "
    "<a href='javascript:window.harmed=1'>here</a>.</p>",
}


class Linked(NamedTuple):
    """The address of the pages, and the settings of a service that browses them."""

    url: str
    settings: dict[str, Any]


@contextmanager
def linked_pages(data_dir: Path) -> Iterator[Linked]:
    """Serve the pages, and index them as the collection `linked` of a data folder."""

    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            text = _PAGES.get(self.path.strip("/"))
            body = _html(self.path.strip("/").title(), text).encode() if text else b""
            self.reply(body, "text/html; charset=utf-8", 200 if text else 404)

    with answering(Handler) as url:
        documents = [
            SourceDocument(f"{url}/{name}", _html(name.title(), text).encode(), "text/html", name.title())
            for name, text in _PAGES.items()
        ]
        with indexing(EmbeddedCatalog(data_dir), "linked") as indexer:
            index_documents(indexer, "linked", documents)
        changes = {
            "data_dir": data_dir,
            "search.collection": "linked",
            "fetch.allow_networks": "127.0.0.0/8",
            "generator.name": "extractive",
        }
        yield Linked(url, changes)


def _html(title: str, text: str) -> str:
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><article><h1>{title}</h1>{text}"
        "</article></body></html>"
    )
