"""Reads the blocks of a model's Markdown: paragraphs, items of lists, headings, rows of tables, and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from citewell.core.formulas import before_unfinished
from citewell.core.markdown import FENCE

# Indentation, and the marks of quotes, lists and headings.
# A year is not the number of an item, and a number with marks alone is an answer.
_PREFIX = re.compile(r"\s*(?:(?:>|[-*+]|\d{1,2}[.)](?!(?:\s*\[[\d\s,;]+\])+\s*$)|#{1,6})\s+)*")
_SEPARATOR = re.compile(r"(?=.*\|)\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
# The most words of a label: of a heading, and of a line that ends with a colon.
_HEADING, _LEAD_IN = 5, 3
_FORMULA_LINES = 50


class WrittenBlock(NamedTuple):
    """The text of a block, and the Markdown before it. Code has its fences in its text."""

    before: str
    text: str
    is_code: bool = False


def read_blocks(markdown: str) -> list[WrittenBlock]:
    """Return the blocks of a text in their order.

    A row of a table is a block, and its header stands before the first row: labels are not claims. Nor are
    short headings and lines such as `For example:`, which stand before the next block. A formula is not
    divided. Code that is not closed ends with the text (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
    """
    blocks: list[WrittenBlock] = []
    lines = markdown.splitlines()
    place, apart, label = 0, False, ""
    while place < len(lines):
        line, place = _with_formula(lines, place)
        prefix = _PREFIX.match(line)
        assert prefix is not None
        marks, text = prefix.group(), line[prefix.end() :].rstrip()
        begun = bool(blocks or label)
        gap = ("\n\n" if apart else "\n") if begun else ""
        if not line.strip():
            apart = True
        elif fence := FENCE.match(text):
            closing = re.compile(rf"\s*{re.escape(fence[1])}+\s*")
            end = next((n for n in range(place, len(lines)) if closing.fullmatch(lines[n])), len(lines))
            code = "\n".join([text, *lines[place:end], fence[1]])
            blocks.append(WrittenBlock(label + (f"\n\n{marks}" if begun else marks), code, is_code=True))
            place, apart, label = end + 1, True, ""
        elif place < len(lines) and "|" in line and _SEPARATOR.fullmatch(lines[place]):
            header = f"{line.strip()}\n{lines[place].strip()}\n"
            header = label + (f"\n\n{header}" if begun else header)
            place, label = place + 1, ""
            while place < len(lines) and "|" in lines[place]:
                blocks.append(WrittenBlock(f"{header}| ", lines[place].strip().strip("|").strip()))
                place, header = place + 1, "\n"
            apart = True
        elif blocks and not apart and not marks.strip():
            blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text}\n{text}")
        elif _is_label(marks, text):
            label, apart = f"{label}{gap}{marks}{text}", True
        else:
            blocks.append(WrittenBlock(label + gap + marks, text))
            apart, label = marks.strip().endswith("#"), ""
    return blocks


def _with_formula(lines: Sequence[str], place: int) -> tuple[str, int]:
    """Return a line and the place of the next; the lines of a formula that ends in the paragraph are one."""
    joined = line = lines[place]
    for end in range(place + 1, min(place + _FORMULA_LINES, len(lines) + 1)):
        if before_unfinished(joined) == joined:
            return joined, end
        if end == len(lines) or not lines[end].strip() or FENCE.match(lines[end].strip()):
            break
        joined = f"{joined} {lines[end].strip()}"
    return line, place + 1


def _is_label(marks: str, text: str) -> bool:
    is_heading = marks.strip().endswith("#")
    if not (is_heading or text.endswith(":")) or any(character.isdigit() for character in text):
        return False
    return len(text.split()) <= (_HEADING if is_heading else _LEAD_IN)
