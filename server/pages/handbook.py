"""The handbook of the installed version, rendered from its Markdown."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from litestar import get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Template
from markdown_it import MarkdownIt
from markdown_it.token import Token

from citewell.pipeline.handbook import handbook_folder
from citewell.server.pages.replies import html

_LINK = re.compile(r"([a-z-]+)\.md(#[\w-]+)?")


class Rendered(NamedTuple):
    """A page of the handbook: its title, and its HTML."""

    title: str
    body: str


@get("/docs")
async def handbook_start() -> Template:
    """The first page of the handbook."""
    return _page("index")


@get("/docs/{name:str}")
async def handbook_page(name: FromPath[str]) -> Template:
    """A page of the handbook, by the name of its file without `.md`."""
    return _page(name)


def _page(name: str) -> Template:
    page = rendered(name)
    return html("handbook.html", here="handbook", title=page.title, body=page.body)


@cache
def rendered(name: str) -> Rendered:
    """Render a page of the handbook; raises `NotFoundException` if there is no such page."""
    folder = handbook_folder()
    file = folder / f"{name}.md" if folder and re.fullmatch(r"[a-z-]+", name) else None
    if file is None or not file.is_file():
        raise NotFoundException(f"The handbook has no page {name}.")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(file.read_text(encoding="utf-8"))
    titles = [_mark(token, after) for token, after in pairwise(tokens)]
    title = next((title for title in titles if title), name)
    for table in (token for token in tokens if token.type == "table_open"):
        table.attrSet("tabindex", "0")  # a wide one scrolls, by keyboard too
    return Rendered(title, markdown.renderer.render(_links(tokens), markdown.options, {}))


def _mark(token: Token, after: Token) -> str:
    """Return the text of a heading, after giving it the id that links to it use."""
    if token.type != "heading_open":
        return ""
    text = "".join(child.content for child in after.children or ())
    token.attrSet("id", re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    return text


def _links(tokens: list[Token]) -> list[Token]:
    """Point links between pages to the service's own pages; replace images by their descriptions."""
    for token in (child for block in tokens for child in block.children or ()):
        if token.type == "link_open" and (found := _LINK.fullmatch(str(token.attrGet("href")))):
            token.attrSet("href", f"/docs/{found[1]}{found[2] or ''}")
        elif token.type == "image":
            token.type = "text"
    return [token for token in tokens if token.type != "html_block"]
