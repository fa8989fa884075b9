"""Scraps of a page: navigation is left out, captions and bare headings join the text that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from citewell.core.text import words
from citewell.retriever.extract.document import Block

# The headings of sections that only lead to other pages. "Contents", "Categories" and "Navigation" may also
# stand above what a box holds or a boat has.
_NAVIGATION = re.compile(
    r"see also|external links?|related (?:articles?|content|links|pages|posts|reading|stories|topics)"
    r"|table of contents|on this page|in this section|share this(?: \w+)?|you may also like",
    re.IGNORECASE,
)
_BARE_NAVIGATION = re.compile(rf"{_NAVIGATION.pattern}|categories|contents|navigation", re.IGNORECASE)
_POINTER = re.compile(
    r"(?:see also|main articles?|click here|back to top|skip to (?:main )?content)\b"
    r"|this is a featured article"
    r"|further information\b[^\d@]*[^\d@.!?]$",  # and nobody to ask for it
    re.IGNORECASE,
)
_NOTES = re.compile(r"(?:references|notes|footnotes)\W*", re.IGNORECASE)
_BARE = re.compile(r"[\W_]+")
_LEADERS = re.compile(r"(?:\.\s?){6,}\s*(?:\d+|[ivxlc]+)$")  # of a table of contents
_BREADCRUMBS = re.compile(r"[^\n>›»]{1,40}(?:\s[>›»]\s[^\n>›»]{1,60})+")
_CAPTION = re.compile(r"CAPTION:\s*", re.ASCII)  # as text browsers mark the captions of tables
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]]*$")
_POINTER_WORDS = 20
_LINK_WORDS = 8  # of one line in a list of links
_ENTRIES = 3  # bare headings in a row, from which they are entries of a list


def ends_sentence(text: str) -> bool:
    """Return whether a text ends like a sentence or a clause."""
    return _ENDS.search(text) is not None


def without_scraps(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks that passages are made of.

    Navigation is left out unless the page has nothing else. A bare heading joins the path of the section
    after it, and a caption comes after the paragraph beside it, except a table's, which stays above it.
    """
    marked = [_marked(block) for block in blocks]
    kept = [block for n, block in enumerate(marked) if not _is_navigation(block, is_first=n == 0)]
    if not any(block.role == "text" for block in kept):
        kept = marked
    sections = groupby(_under_headings(kept), key=lambda block: block.headings)
    return [block for _, section in sections for block in _captions_last(list(section))]


def _marked(block: Block) -> Block:
    text = _CAPTION.sub("", block.text, count=1) if _CAPTION.match(block.text) else block.text
    return block if text is block.text else block._replace(text=text, role="caption")


def _is_navigation(block: Block, *, is_first: bool) -> bool:
    if block.role == "links":
        return True
    if block.role == "heading":
        return _BARE_NAVIGATION.fullmatch(block.text.strip(" :")) is not None
    if block.verbatim:
        return False
    if _BARE.fullmatch(block.text) or _LEADERS.search(block.text):
        return True
    if block.headings and _NAVIGATION.fullmatch(block.headings[-1].strip(" :")):
        lines = block.text.split("\n")
        return len(words(block.text)) <= _LINK_WORDS * len(lines)
    if _POINTER.match(block.text.lstrip("-•([ ")) and len(words(block.text)) <= _POINTER_WORDS:
        return True
    if _NOTES.fullmatch(block.text):
        return True
    return is_first and _BREADCRUMBS.fullmatch(block.text) is not None


def _under_headings(blocks: Sequence[Block]) -> Iterator[Block]:
    """Put bare headings above the section that follows them; three or more in a row become a list."""
    bare: list[Block] = []
    named: tuple[str, ...] = ()  # the path of the section below bare headings
    path: tuple[str, ...] = ()  # the same with these
    for block in blocks:
        if block.role == "heading":
            bare.append(block)
            continue
        if len(bare) >= _ENTRIES:
            yield _listed(bare)
        elif bare and block.headings[:-1] == (above := bare[-1].headings):
            named = block.headings
            path = (*above, *(heading.text for heading in bare), *named[-1:])
        bare = []
        yield block._replace(headings=path) if named and block.headings == named else block
    if len(bare) >= _ENTRIES:
        yield _listed(bare)


def _listed(bare: Sequence[Block]) -> Block:
    lines = "\n".join(f"- {block.text}" for block in bare)
    return bare[0]._replace(text=lines, role="text")


def _captions_last(section: list[Block]) -> list[Block]:
    """Return the blocks of a section with each caption after the paragraph that follows it."""
    ordered: list[Block] = []
    waiting: list[Block] = []
    for block in section:
        if block.role == "caption":
            waiting.append(block)
        elif is_data(block) or block.text.endswith((":", "：")):
            ordered += [*waiting, block]
            waiting = []
        else:
            ordered += [block, *waiting]
            waiting = []
    return ordered + waiting


def is_data(block: Block) -> bool:
    """Return whether a block is a table, a listing or an infobox."""
    return block.verbatim or " | " in block.text.split("\n", 1)[0]
