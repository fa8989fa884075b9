"""Division of the blocks of a page into passages worth citing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

from citewell.core.types import Passage
from citewell.retriever.extract.document import Block
from citewell.retriever.extract.packing import pack
from citewell.retriever.extract.parts import Part, count_words, measure, parts_of
from citewell.retriever.extract.scraps import without_scraps

# Soft hyphens and zero-width spaces serve browsers only; elsewhere they would split words.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
_INDENT = re.compile(r"[ \t]*")
_FEW = 12  # words; a shorter text is shown with its heading
_REPEATED = 60  # characters from which a block that the page has twice is kept once
_MAX_TITLE = 40  # words


def to_passages(
    blocks: Iterable[Block], url: str, title: str, *, least: int = 60, most: int = 200
) -> tuple[Passage, ...]:
    """Divide blocks into passages of `least` to `most` words, the title included, where the page allows it.

    A passage ends where a section, a paragraph or at least a sentence ends. Paragraphs that are too short
    are joined within their section; sections of a few words are joined to their neighbors, under their
    headings. Navigation is left out. The upper limit corresponds to an encoder's window of 256 word pieces.
    """
    tidy = (block._replace(text=_tidy(block.text, block.verbatim)) for block in blocks)
    kept = _once(without_scraps([block for block in tidy if block.text]))
    most = max(most // 2, most - min(measure(title), _MAX_TITLE))
    passages: dict[str, Passage] = {}
    for run in pack(list(parts_of(kept, most)), least, most):
        passage = _passage(run, url, title)
        passages.setdefault(passage.text, passage)
    return tuple(passages.values())


def _tidy(text: str, verbatim: bool) -> str:
    """Remove stray white space except line breaks and indentation; return `verbatim` text unchanged."""
    lines = text.translate(_INVISIBLE).splitlines()
    if verbatim:
        return "\n".join(line.rstrip() for line in lines if line.strip())
    return "\n".join(_indent(line) + " ".join(line.split()) for line in lines if line.strip()).strip()


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match[0] if match else ""


def _once(blocks: Iterable[Block]) -> Iterator[Block]:
    """Leave out later copies of a block, except short ones, which can be a part of something else."""
    seen: set[str] = set()
    for block in blocks:
        if block.text not in seen:
            yield block
        if len(block.text) >= _REPEATED:
            seen.add(block.text)


def _passage(run: Sequence[Part], url: str, title: str) -> Passage:
    """Write parts as one passage, with the headings inside it as lines."""
    sections = [list(parts) for _, parts in groupby(run, key=lambda part: part.headings)]
    paths = [section[0].headings for section in sections]
    shared = _shared(paths)
    texts = [_text(section, is_first=n == 0) for n, section in enumerate(sections)]
    if len(paths) > 1:
        above = shared
        for number, path in enumerate(paths):
            same = len(_shared([above, path]))
            texts[number] = "\n".join((*path[same:], texts[number]))
            above = path
    elif shared and (shared[-1].endswith("?") or count_words(texts[0]) < _FEW):
        texts = [f"{shared[-1]}\n{texts[0]}"]
    return Passage(url, title, "\n".join(texts), shared, run[0].page_number)


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all paths begin with."""
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return tuple(level[0] for level in levels)


def _text(parts: Sequence[Part], *, is_first: bool) -> str:
    """Join the parts of one section, captions last."""
    first, *more = sorted(parts, key=lambda part: part.is_aside)
    text = "".join((first.text, *(part.joint + part.text for part in more)))
    return f"{parts[0].header}\n{text}" if is_first and parts[0].header else text
