"""HTML to a document, by trafilatura."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from core.errors import ExtractionError
from retriever.extract.charset import decode
from retriever.extract.document import Block, Document, Outline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element
    from lxml.html import HtmlElement

_MIN_VISIBLE = 25  # characters; a page that shows less shows "Loading …" or the like
_LONGEST_NOTICE = 300  # characters of "You need to enable JavaScript to run this app."
_LEVEL = re.compile(r"h([1-6])")
_DEEPEST = 6


def read_html(body: bytes, content_type: str = "") -> Document:
    """The main text of an HTML page: without navigation, footers, comments and scripts.

    The work is done by [trafilatura](https://trafilatura.readthedocs.io) in its standard mode, whose
    comparison with two other extractors (readability, jusText) costs little on articles and matters on
    all other pages. Raises `ExtractionError` where the page shows no text.
    """
    from trafilatura import bare_extraction, html2txt
    from trafilatura.metadata import extract_title
    from trafilatura.settings import Document as Extracted
    from trafilatura.utils import load_html

    text = decode(body, content_type)
    tree = load_html(text)
    if tree is None:  # trafilatura takes a fragment of one element for something other than HTML
        tree = load_html(f"<html><body>{text}</body></html>")
    if tree is None:
        raise ExtractionError("no main text found: its HTML cannot be parsed")
    title = " ".join((extract_title(tree) or "").split())
    _prepare(tree)
    # with_metadata stays off: looking for dates and authors would cost more than the text.
    found = bare_extraction(tree, include_comments=False, include_formatting=False)
    blocks = tuple(_blocks(found.body, title)) if isinstance(found, Extracted) else ()
    blocks = blocks or (Block(html2txt(tree)),)
    if sum(len(block.text) for block in blocks) < _MIN_VISIBLE:
        raise ExtractionError(
            "no main text found: the page shows next to no text",
            "Open it in a browser: it may build its text with JavaScript or need a sign-in.",
        )
    return Document(title, blocks)


def _prepare(tree: HtmlElement) -> None:
    """Mend what trafilatura would get wrong."""
    for noscript in list(tree.iter("noscript")):
        # Not every one: after a <noscript> in the head, the parser puts half the page into it.
        notice = noscript.text_content()
        if len(notice) <= _LONGEST_NOTICE and "javascript" in notice.casefold():
            noscript.drop_tree()
    for pre in tree.iter("pre"):  # without <code> inside, most are taken for quotations
        code = pre.makeelement("code")
        code.text, pre.text = pre.text, None
        code.extend(list(pre))
        pre.append(code)


def _blocks(body: _Element, title: str) -> Iterator[Block]:
    """The children of trafilatura's `<body>` (https://trafilatura.readthedocs.io/en/latest/corefunctions.html)."""
    outline = Outline(title)
    for element in body:
        if element.tag == "head":
            level = _LEVEL.fullmatch(element.get("rend", ""))
            outline.enter(int(level[1]) if level else _DEEPEST, _text(element))
        elif element.tag == "code":
            if listing := "".join(_code(element)).strip("\n"):
                yield Block(listing, outline.path, verbatim=True)
        elif element.tag in ("list", "table"):
            if text := "\n".join(_lines(element)):
                yield Block(text, outline.path)
        else:
            for paragraph in re.split(r"\n\s*\n", _text(element)):
                if text := paragraph.strip():
                    yield Block(text, outline.path)


def _text(element: _Element) -> str:
    """The text of a paragraph or of what it holds; `<br>` and nested blocks begin new lines."""
    source_lines = element.tag == "quote"  # the only place where trafilatura leaves them in
    parts = [_flat(element.text, source_lines)]
    for child in element:
        if child.tag == "lb":
            parts.append("\n")
        elif child.tag in ("list", "table"):
            parts += ["\n", *(f"{line}\n" for line in _lines(child))]
        elif child.tag in ("p", "quote", "head"):
            parts += ["\n\n", _text(child), "\n\n"]
        elif child.tag == "code":
            parts += _code(child)
        else:
            parts.append(_text(child))
        parts.append(_flat(child.tail, source_lines))
    return "".join(parts)


def _flat(text: str | None, source_lines: bool) -> str:
    return (text or "").replace("\n", " ") if source_lines else text or ""


def _code(element: _Element) -> Iterator[str]:
    """The text of a listing, as it stands."""
    yield element.text or ""
    for child in element:
        if child.tag == "lb":
            yield "\n"
        yield from _code(child)
        yield child.tail or ""


def _lines(element: _Element) -> Iterator[str]:
    """A list as lines such as `- item`, nested ones indented; a table as lines such as `cell | cell`."""
    if element.tag == "table":
        for row in element.iter("row"):
            cells = [" ".join(_text(cell).split()) for cell in row.iter("cell")]
            if line := " | ".join(cell for cell in cells if cell):
                yield line
        return
    number = 0
    term = ""
    for item in element:
        lines = [line for line in _text(item).split("\n") if line.strip()]
        if not lines:
            continue
        rend = item.get("rend", "")
        if rend.startswith("dt"):  # `<dt>` waits for its `<dd>`
            term = f"{term} {' '.join(lines)}".strip()
            continue
        if rend.startswith("dd") and term:
            lines[0] = f"{term}: {lines[0].strip()}"
            term = ""
        number += 1
        mark = f"{number}. " if element.get("rend") == "ol" else "- "
        yield mark + lines[0].strip()
        yield from (" " * len(mark) + line for line in lines[1:])
    if term:
        yield f"- {term}"
