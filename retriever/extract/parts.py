"""Parts of blocks, between which a page may be divided: sentences, items of lists, rows of tables, lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from citewell.core.text import space_out, split_sentences, words
from citewell.retriever.extract.document import Block
from citewell.retriever.extract.scraps import ends_sentence, is_data

_ITEM = re.compile(r"(?:[-•◦▪*–]|\d{1,3}[.)])\s")
_INDENTED = re.compile(r"\s")
_CHARS = 6  # per word, with its space: a longer text takes more of the encoder's window
_SIGN = re.compile(r"[^\w\s]")
_SIGNS = 1.25  # words and signs per word of prose
_HEADER = 40  # words of a header or a lead-in that is repeated
_SCRAP = 80  # characters; a shorter line that ends no sentence belongs to the text below it
_ROWS = 3  # of a table that has a header
# Costs of ending and of continuing a passage at a place, beside those of its length (packing.py).
_NEVER = 20.0
_IN_PROSE = 1.0
_IN_DATA = 0.4
_SAME = 0.1
_AFTER_DATA = 2.1  # so that a table at the top does not hide the lead below it
_OTHER_SECTION = 2.1  # more than two short passages cost, so that only tiny sections are joined


class Part(NamedTuple):
    """A part of a block. A passage that begins with it costs `cut`, one that continues with it costs `join`.

    `joint` stands between it and the part before it. `header` is repeated where a passage begins with this
    part: the header of a table or the lead-in of a list. `size` is what `measure` returns and `length` the
    number of words, both with the heading of a section that begins here.
    `is_aside` marks a caption, which ends its passage.
    """

    text: str
    joint: str
    size: int
    length: int
    headings: tuple[str, ...]
    page_number: int | None
    cut: float
    join: float
    header: str = ""
    is_aside: bool = False


def count_words(text: str) -> int:
    """Return the number of words between spaces; in scripts without spaces, each character is a word."""
    return len((text if text.isascii() else space_out(text)).split())


def measure(text: str) -> int:
    """Return the length of a text in words, of which long ones and signs count as more, as to the encoder."""
    squeezed = " ".join(text.split())
    signs = len(_SIGN.findall(squeezed))
    found = len(words(squeezed))
    return max(found, int((found + signs) / _SIGNS), len(squeezed) // _CHARS)


def parts_of(blocks: Iterable[Block], most: int) -> Iterator[Part]:
    """Divide blocks into parts of at most `most` words."""
    before: Block | None = None
    header = ""
    for block in blocks:
        cut, join = _boundary(before, block)
        same = before is not None and before.headings == block.headings
        lead = _lead(before, block) if before is not None and same else ""
        header = lead
        opening = "" if same or not block.headings else f"{block.headings[-1]}\n"
        aside = block.role == "caption" and cut == _NEVER
        texts = list(_divided(block, most))
        rows = is_data(block) and not block.verbatim and len(texts) >= _ROWS
        for number, (text, joint) in enumerate(texts):
            if number:
                cut, join, opening = (_IN_PROSE if joint != "\n" else _IN_DATA), 0.0, ""
            elif cut == _NEVER:
                header = ""
            if number == 1:
                header = lead
                if rows and measure(texts[0].text) <= _HEADER:
                    header = "\n".join(filter(None, (lead, texts[0].text)))
            size, length = measure(opening + text), count_words(opening + text)
            kept = header if header and measure(header) + size <= most else ""
            yield Part(text, joint, size, length, block.headings, block.page_number, cut, join, kept, aside)
        before = block


class _Piece(NamedTuple):
    text: str
    joint: str


def _boundary(before: Block | None, block: Block) -> tuple[float, float]:
    """Return the costs of a passage's end and of its continuation between two blocks."""
    if before is None:
        return 0.0, 0.0
    if before.headings != block.headings:
        return 0.0, _OTHER_SECTION + 0.2 * (before.headings[:-1] != block.headings[:-1])
    announces = before.text.endswith((":", "：")) or (before.role == "caption" and is_data(block))
    if announces or (block.role == "caption" and not is_data(before)):
        return _NEVER, 0.0
    if len(before.text) < _SCRAP and not ends_sentence(before.text) and not is_data(before):
        return _NEVER / 5, 0.0
    after_data = is_data(before) and not (is_data(block) or _is_list(before) or _is_list(block))
    return 0.0, _AFTER_DATA if after_data else _SAME


def _lead(before: Block, block: Block) -> str:
    """Return what announces a list or a table: its caption, or the sentence that ends in a colon."""
    if before.role == "caption" and is_data(block):
        lead = before.text
    elif before.text.endswith((":", "：")) and (_is_list(block) or is_data(block)):
        lead = split_sentences(before.text.split("\n")[-1])[-1]
    else:
        return ""
    return lead if measure(lead) <= _HEADER else ""


def _is_list(block: Block) -> bool:
    return _ITEM.match(block.text) is not None


def _divided(block: Block, most: int) -> Iterator[_Piece]:
    """Yield the pieces of a block: lines, items with what is nested in them, or sentences of long lines."""
    lines = block.text.split("\n")
    if _is_list(block) or block.verbatim:
        lines = list(_items(lines, most))
    for line in lines:
        joint = "\n"
        if "\n" in line or len(line) < most // 2 or measure(line) <= (most if block.verbatim else most * 0.7):
            yield _Piece(line, joint)
            continue
        place = 0
        for sentence in split_sentences(line):
            start = line.index(sentence, place)
            for text, inner in _short_enough(sentence, most):
                yield _Piece(text, joint or inner)
                joint = ""
            # Between sentences of scripts such as Chinese there is no space.
            place = start + len(sentence)
            joint = " " if line[place : place + 1].isspace() else ""


def _items(lines: list[str], most: int) -> Iterator[str]:
    """Join indented lines to the line that they belong to, where the whole is not too long."""
    item = ""
    for line in lines:
        whole = f"{item}\n{line}"
        if item and _INDENTED.match(line) and measure(whole) <= most * 0.7:
            item = whole
        else:
            if item:
                yield item
            item = line
    if item:
        yield item


def _short_enough(sentence: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield a sentence, or runs of its words if it is too long, each with the joint before it."""
    if measure(sentence) <= most:
        yield sentence, ""
        return
    run: list[str] = []
    size = 0
    for word in sentence.split():
        chars = most if measure(word) > most else len(word)
        for start in range(0, len(word), chars):
            piece = word[start : start + chars]
            length = measure(piece)
            if run and (start or size + length > most // 2):
                yield " ".join(run), " "
                run, size = [], 0
            if start:
                yield piece, ""
            else:
                run.append(piece)
                size += length
    if run:
        yield " ".join(run), " "
