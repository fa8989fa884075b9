"""Reading of Markdown."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument, Outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it.tree import SyntaxTreeNode

# It begins with a key or a comment: other text between two rules is a section.
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n((?:[\w-]+[ \t]*:|#).*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^>]*>", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def read_markdown(body: bytes, content_type: str = "") -> ExtractedDocument:
    """Read a CommonMark document with tables; its title is the front matter's, or the first `#`.

    [markdown-it-py](https://markdown-it-py.readthedocs.io) parses it; links become their text.
    """
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    text = decode(body, content_type).replace("\r\n", "\n")
    title = ""
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        if named := _FRONT_TITLE.search(front[1]):
            title = named[1].strip("\"'")
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))
    if not title:
        firsts = (_inline(node) for node in root.children if node.type == "heading" and node.tag == "h1")
        title = " ".join(next(firsts, "").split())
    return ExtractedDocument(title, tuple(_blocks(root.children, Outline(title))))


def _blocks(nodes: Iterable[SyntaxTreeNode], outline: Outline) -> Iterator[Block]:
    for node in nodes:
        if node.type == "heading":
            outline.enter(int(node.tag[1:]), _inline(node))
        elif node.type == "blockquote":
            yield from _blocks(node.children, outline)
        elif text := "\n".join(_lines(node)):
            yield Block(text, outline.path, verbatim=node.type in ("fence", "code_block"))


def _lines(node: SyntaxTreeNode) -> Iterator[str]:
    """Yield a block as lines: `- item` with nested ones indented, `cell | cell`, and code unchanged."""
    if node.type in ("fence", "code_block"):
        yield from node.content.rstrip("\n").split("\n")
    elif node.type == "html_block":
        yield from _plain(node.content).split("\n")
    elif node.type in ("bullet_list", "ordered_list"):
        first = int(node.attrs.get("start", 1))
        for number, item in enumerate(node.children, first):
            mark = f"{number}. " if node.type == "ordered_list" else "- "
            lines = [line for child in item.children for line in _lines(child)] or [""]
            yield mark + lines[0]
            yield from (" " * len(mark) + line for line in lines[1:])
    elif node.type == "table":
        for row in node.walk():
            if row.type == "tr":
                yield " | ".join(_inline(cell) for cell in row.children)
    elif node.type == "blockquote":
        for child in node.children:
            yield from _lines(child)
    elif node.type != "hr":
        yield from _inline(node).split("\n")


def _inline(node: SyntaxTreeNode) -> str:
    """Return the text of a paragraph, a heading or a cell without its markup."""
    if node.type == "softbreak":
        return " "
    if node.type == "hardbreak" or (node.type == "html_inline" and _BREAK.fullmatch(node.content)):
        return "\n"
    if node.type == "html_inline":
        return ""
    if node.type in ("text", "code_inline", "image"):
        return node.content
    return "".join(map(_inline, node.children))


def _plain(markup: str) -> str:
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", markup))).strip()
