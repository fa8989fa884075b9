"""Plain text to a document: paragraphs at blank lines, in any charset."""

from __future__ import annotations

import re
import textwrap

from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument

_BLANK = re.compile(r"\n[ \t\f\v\r]*\n")
_SHORTEST_WRAP = 45  # characters; nobody wraps prose in lines shorter than this
# Scripts that are written without spaces, where a line break stands for nothing at all.
_UNSPACED = "\u0e00-\u0eff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"
_BREAK_IN_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}])\n(?=[{_UNSPACED}])")


def read_text(body: bytes, content_type: str = "") -> ExtractedDocument:
    """The paragraphs of a plain text file; it has no title of its own."""
    text = decode(body, content_type).replace("\r\n", "\n").replace("\r", "\n")
    paragraphs = (textwrap.dedent(part).strip("\n").rstrip() for part in _BLANK.split(text))
    return ExtractedDocument("", tuple(_block(paragraph) for paragraph in paragraphs if paragraph))


def _block(paragraph: str) -> Block:
    """Prose that an editor has wrapped becomes one line; lists, verse and tables stay as they are."""
    lines = paragraph.split("\n")
    if _is_wrapped(lines):
        return Block(unwrap(lines))
    return Block(paragraph, verbatim=len(lines) > 1)


def _is_wrapped(lines: list[str]) -> bool:
    """Whether every line but the last is about as long as the longest, as wrapped prose is."""
    if len(lines) < 2:
        return False
    longest = max(map(len, lines))
    return longest >= _SHORTEST_WRAP and min(map(len, lines[:-1])) >= longest * 0.6


def unwrap(lines: list[str]) -> str:
    """One line of prose from several; words divided at a line's end are left as they are."""
    return _BREAK_IN_UNSPACED.sub("", "\n".join(line.strip() for line in lines)).replace("\n", " ")
