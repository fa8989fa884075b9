"""Assembly of the kept pieces into the author's paragraphs, lists, tables and listings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress, groupby
from typing import NamedTuple

from citewell.retriever.extract.document import Block, Outline, Role
from citewell.retriever.extract.main_text.layout import PageLayout

_LEVELS = {f"h{level}": level for level in range(1, 7)}
_REPEATED = 40  # characters from which a text that the page has twice, as for small screens, is kept once
_LISTS = frozenset({"ul", "ol", "dl"})
_ITEMS = frozenset({"li", "dt", "dd"})
_PLACES = _LISTS | _ITEMS | {"table", "tr", "td", "th", "pre"}
_CELLS = frozenset({"td", "th"})
_CAPTIONS = frozenset({"caption", "figcaption"})
_CAPTION = re.compile(r"\b(?:wp-|img-|image-|photo-)?caption\b", re.IGNORECASE)
# Names of frames that hold links to other pages.
_NAVIGATION = re.compile(
    r"see-?also|\brelated\b|related-|breadcrumb|categor(?:y|ies)\b|navbox|\btoc\b|pagination|\bpager\b|\btags\b"
    r"|\bshar(?:e|ing)\b|-nav\b|\bnav-|\bmenu\b",
    re.IGNORECASE,
)
_NEAR = 4  # frames around a text whose names tell its role
_MAX_CAPTION = 300  # characters
_LINKED = 0.8  # the share of characters in links, from which a text is only links
# More characters of an item, or of a piece in a cell, and the list sets out posts, the table the page itself.
_MAX_ITEM = 400
_MAX_CELL = 120


def assemble(layout: PageLayout, kept: Sequence[bool], title: str) -> tuple[Block, ...]:
    """Assemble the pieces for which `kept` is true into blocks under their headings, without the title.

    A list becomes lines such as `- item`, nested ones indented, a table lines such as `cell | cell`.
    """
    outline = Outline(title)
    titled = title.casefold()
    groups = _Groups(layout)
    blocks: list[Block] = []
    seen: set[str] = set()
    lines: list[_Line] = []
    bare = ""  # a heading without text so far
    for text, frame, counts in compress(zip(layout.texts, layout.owners, layout.counts, strict=True), kept):
        if len(text) > _REPEATED and text in seen:
            continue
        seen.add(text)
        if " ".join(text.split()).casefold() == titled:
            continue  # a duplicate
        level = _LEVELS.get(layout.tags[frame])
        if level is None:
            lines.append(_Line(text, groups.place(frame), frame, counts[1]))
            bare = ""
            continue
        blocks += groups.blocks(lines, outline.path)
        lines = []
        above = outline.path
        outline.enter(level, text)
        if bare and len(outline.path) <= len(above):  # an entry, as in a list of products, not a section
            blocks.append(Block(bare, above[:-1], role="heading"))
        bare = text if outline.path else ""
    blocks += groups.blocks(lines, outline.path)
    if bare:
        blocks.append(Block(bare, outline.path[:-1], role="heading"))
    return tuple(blocks)


class _Place(NamedTuple):
    """The place of a piece: the `item` of a list or the row of a table `group`, and the `cell` in it.

    All three are indices of frames, or -1; `depth` counts the lists around the item.
    """

    verbatim: bool
    item: int = -1
    group: int = -1
    cell: int = -1
    depth: int = 0


class _Line(NamedTuple):
    """A piece, the frame that it is in, and its characters in links."""

    text: str
    place: _Place
    frame: int
    link_chars: int


class _Groups:
    """The lists and tables of a page."""

    def __init__(self, layout: PageLayout) -> None:
        self._layout = layout
        self._readable: dict[int, bool] = {}
        self._places: dict[int, _Place] = {}
        self._items: dict[int, int] = {}  # of each list
        self._numbers: dict[int, int] = {}  # of each item of an ordered list, from 1
        self._cells: dict[int, list[int]] = {}  # of each row, also empty ones
        for index in [index for index, tag in enumerate(layout.tags) if tag in _CELLS]:
            self._cells.setdefault(layout.parents[index], []).append(index)
        for index in [index for index, tag in enumerate(layout.tags) if tag in _ITEMS]:
            parent = layout.parents[index]
            if parent >= 0:
                self._items[parent] = self._items.get(parent, 0) + 1
                if layout.tags[index] == "li" and layout.tags[parent] == "ol":
                    self._numbers[index] = self._items[parent]

    def place(self, frame: int) -> _Place:
        """Return the place of a piece in the list or table that holds it, the outermost if nested."""
        if self._layout.tags[frame] not in _PLACES:
            frame = self._layout.parents[frame]  # which many pieces share
        place = self._places.get(frame)
        if place is None:
            place = self._places[frame] = self._find(frame)
        return place

    def _find(self, frame: int) -> _Place:
        item = group = cell = -1
        depth = 0
        verbatim = False
        inner_item = inner_cell = -1
        for outer in self._layout.lineage(frame):
            tag = self._layout.tags[outer]
            verbatim = verbatim or tag == "pre"
            if tag in _ITEMS or tag == "tr":
                inner_item = inner_item if inner_item >= 0 else outer
            elif tag in _CELLS:
                inner_cell = inner_cell if inner_cell >= 0 else outer
            elif (tag in _LISTS or tag == "table") and inner_item >= 0:
                if not self._is_readable(outer):
                    break  # the frames around it lay out the page
                item, cell = inner_item, inner_cell
                depth += group >= 0 and tag in _LISTS
                group = outer
        return _Place(verbatim, item, group, cell, depth)

    def blocks(self, lines: Sequence[_Line], headings: tuple[str, ...]) -> Iterator[Block]:
        """Yield the blocks of lines under the same headings."""
        for group, members in groupby(lines, key=lambda line: line.place.group):
            if group < 0:
                for line in members:
                    yield Block(line.text, headings, line.place.verbatim, self._role([line]))
            else:
                rows = [list(row) for _, row in groupby(members, key=lambda line: line.place.item)]
                role = self._role([line for row in rows for line in row])
                yield Block("\n".join(map(self._row, rows)), headings, role=role)

    def _role(self, lines: Sequence[_Line]) -> Role:
        """Return the role of a group, which its elements and their names tell."""
        chars = sum(len(line.text) for line in lines)
        outer = self._layout.lineage(lines[0].frame)[:_NEAR]
        names = " ".join(self._layout.names[frame] for frame in outer)
        if sum(line.link_chars for line in lines) >= _LINKED * chars and _NAVIGATION.search(names):
            return "links"
        tags = {self._layout.tags[frame] for frame in outer[:2]}
        is_caption = not _CAPTIONS.isdisjoint(tags) or _CAPTION.search(self._layout.names[outer[0]])
        return "caption" if is_caption and chars <= _MAX_CAPTION else "text"

    def _row(self, lines: list[_Line]) -> str:
        item, depth = lines[0].place.item, lines[0].place.depth
        tag = self._layout.tags[item]
        if tag == "tr":
            texts: dict[int, list[str]] = {cell: [] for cell in self._cells.get(item, ())}
            for line in lines:
                texts.setdefault(line.place.cell, []).append(" ".join(line.text.split()))
            while texts and not next(reversed(texts.values())):
                texts.popitem()  # empty cells at the end of the row
            return " | ".join(map(" ".join, texts.values()))
        number = self._numbers.get(item)
        mark = "  " * depth + (f"{number}. " if number else "  " if tag == "dd" else "- ")
        first, *more = (part for line in lines for part in line.text.split("\n"))
        return "\n".join([mark + first, *(" " * len(mark) + part for part in more)])

    def _is_readable(self, group: int) -> bool:
        """Return whether a list has short items, or a table short cells."""
        if group not in self._readable:
            layout = self._layout
            first, last = layout.first[group], layout.last[group]
            chars = sum(map(len, layout.texts[first:last]))
            if layout.tags[group] == "table":
                readable = chars <= _MAX_CELL * (last - first)
            else:
                readable = chars <= _MAX_ITEM * self._items.get(group, 1)
            self._readable[group] = readable
        return self._readable[group]
