"""Reading of plain text in any charset: paragraphs end at blank lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument

_BLANK = re.compile(r"\n[ \t\f\v\r]*\n")
_MAX_TITLE = 80  # characters
# The beginning of a line that is a message or an entry: a time, or somebody's name.
_ENTRY = re.compile(r"\s*(?:\[|\d|[^\W\d]\w*(?: \w+)?: )")
_NOT_TITLE = re.compile(r"^(?:[-*•#=]|\d+[.)])|[.,;:!。！：；]$")  # an item, a rule, or a sentence
_SHORTEST_WRAP = 45  # characters; prose is not wrapped in shorter lines
# Scripts that are written without spaces, where lines are joined without one.
_UNSPACED = "\u0e00-\u0eff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"
_BREAK_IN_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}])\n(?=[{_UNSPACED}])")


def read_text(body: bytes, content_type: str = "") -> ExtractedDocument:
    """Read the paragraphs of a plain text file; a short first line that stands alone is its title."""
    text = decode(body, content_type).replace("\r\n", "\n").replace("\r", "\n")
    paragraphs = (textwrap.dedent(part).strip("\n").rstrip() for part in _BLANK.split(text))
    blocks = tuple(_block(paragraph) for paragraph in paragraphs if paragraph)
    return ExtractedDocument(_title(blocks), blocks)


def _title(blocks: Sequence[Block]) -> str:
    first = blocks[0].text.strip() if len(blocks) > 1 else ""
    is_title = "\n" not in first and len(first) <= _MAX_TITLE and not _NOT_TITLE.search(first)
    return first if is_title and any(map(str.isalpha, first)) else ""


def _block(paragraph: str) -> Block:
    """Join prose that an editor wrapped into one line; keep lists, verse and tables unchanged."""
    lines = paragraph.split("\n")
    if _is_wrapped(lines):
        return Block(unwrap(lines))
    return Block(paragraph, verbatim=len(lines) > 1)


def _is_wrapped(lines: list[str]) -> bool:
    """Return whether every line but the last is about as long as the longest, as in wrapped prose.

    Lines that all begin with a time or a name, as in a chat, are none.
    """
    if len(lines) < 2 or all(map(_ENTRY.match, lines)):
        return False
    longest = max(map(len, lines))
    return longest >= _SHORTEST_WRAP and min(map(len, lines[:-1])) >= longest * 0.6


def unwrap(lines: list[str]) -> str:
    """Join several lines of prose into one; words divided at the end of a line stay divided."""
    return _BREAK_IN_UNSPACED.sub("", "\n".join(line.strip() for line in lines)).replace("\n", " ")
