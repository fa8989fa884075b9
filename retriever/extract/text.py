"""Reading of plain text in any charset: paragraphs end at blank lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import pairwise

from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument

_BLANK = re.compile(r"\n[^\S\n]*\n")
_MAX_TITLE = 80  # characters
# The beginning of a line that is a message or an entry: a time, or somebody's name.
_ENTRY = re.compile(r"\s*(?:\[|\d|[^\W\d]\w*(?: \w+)?: )")
_COLUMNS = re.compile(r"(?<=\S)(?: {3,}|\t+)(?=\S)")  # the gap between aligned columns
_CELL = " | "
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
    """Join prose that an editor wrapped into one line; keep the lines of lists, verse, notes and tables.

    Columns that are aligned by spaces become cells.
    """
    lines = paragraph.split("\n")
    if sum(_COLUMNS.search(line) is not None for line in lines) > len(lines) / 2 and len(lines) > 1:
        return Block("\n".join(_CELL.join(cells).rstrip(" |") for cells in _cells(lines)), verbatim=True)
    if _is_wrapped(lines):
        return Block(unwrap(lines))
    return Block(paragraph, verbatim=len(lines) > 1)


def _cells(lines: list[str]) -> list[list[str]]:
    """Return the cells of lines that are aligned by spaces; a cell may be empty.

    A column ends where all lines have two spaces. Lines that are not aligned so well are divided at their
    own gaps.
    """
    divided = [_COLUMNS.split(line.strip()) for line in lines]
    if any("\t" in line for line in lines):
        return divided
    width = max(map(len, lines))
    is_filled = [any(line[at : at + 1].strip() for line in lines) for at in range(width)]
    starts = [at for at in range(width) if is_filled[at] and not any(is_filled[max(at - 2, 0) : at])]
    ends = [*starts[1:], width]
    columns = [[line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in lines]
    are_aligned = not any(_COLUMNS.search(cell) for cells in columns for cell in cells)
    return columns if are_aligned and len(starts) == max(map(len, divided)) else divided


def _is_wrapped(lines: list[str]) -> bool:
    """Return whether every line but the last is about as long as the longest, as in wrapped prose.

    The next word seldom fits a wrapped line. Lines that all begin with a time or a name, as in a chat, are
    not wrapped.
    """
    if len(lines) < 2 or all(map(_ENTRY.match, lines)):
        return False
    longest = max(map(len, lines))
    fits = [len(line) + len("".join(after.split()[:1])) < longest for line, after in pairwise(lines)]
    is_even = longest >= _SHORTEST_WRAP and min(map(len, lines[:-1])) >= longest * 0.6
    return is_even and 2 * sum(fits) <= len(fits)


def unwrap(lines: list[str]) -> str:
    """Join several lines of prose into one; words divided at the end of a line stay divided."""
    return _BREAK_IN_UNSPACED.sub("", "\n".join(line.strip() for line in lines)).replace("\n", " ")
