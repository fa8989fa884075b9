"""Extraction of the text of forum posts, which are HTML."""

from __future__ import annotations

import re

from lxml import html

_BLOCKS = frozenset("p pre ul ol li blockquote h1 h2 h3 h4 h5 h6 hr br div table tr".split())  # noqa: SIM905
_BEFORE = {"br": "\n", "tr": "\n", "li": "\n- "}
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_GAPS = re.compile(r"\n\s*\n+")


def html_text(source: str) -> str:
    """Return the text of a post, with an empty line between paragraphs and a dash before list items."""
    # Bytes within a body: a post may be a partial document, or declare another encoding.
    whole = f"<html><body>{source}".encode()
    root = html.document_fromstring(whole, parser=html.HTMLParser(encoding="utf-8"))
    for element in root.iter(*_BLOCKS):
        element.text = _BEFORE.get(element.tag, "\n\n") + _printable(element.text)
        element.tail = ("" if element.tag in _BEFORE else "\n") + _printable(element.tail)
    return _GAPS.sub("\n\n", _printable(root.text_content())).strip()


def _printable(text: str | None) -> str:
    """Remove control characters, which HTML can name but lxml rejects."""
    return _CONTROLS.sub("", text or "")
