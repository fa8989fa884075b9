"""The layout of an HTML page: its pieces of text in reading order, and the frames that contain them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

# Elements that, with all their content, show no text of the page.
_UNREAD = frozenset(
    "applet area audio base canvas datalist embed frame frameset iframe input link map meta object "  # noqa: SIM905
    "option param script select source style svg template textarea title track video".split()
)
# Elements that do not start a new line (https://html.spec.whatwg.org/multipage/text-level-semantics.html).
_INLINE = frozenset(
    "a abbr acronym annotation b bdi bdo big button cite code data del dfn em font i img ins kbd label mark "  # noqa: SIM905
    "math mfrac mi mn mo mrow mspace msqrt mstyle msub msubsup msup mtext nobr output picture q rp rt ruby s "
    "samp semantics small span strike strong sub sup time tt u var wbr".split()
)
_LINKED, _PRESSED, _BOLD, _OTHER_INLINE, _LINE_BREAK, _SKIPPED, _BLOCK = range(7)
_EFFECTS = (
    dict.fromkeys(_INLINE, _OTHER_INLINE)
    | {"a": _LINKED, "button": _PRESSED, "b": _BOLD, "strong": _BOLD, "br": _LINE_BREAK}
    | dict.fromkeys(_UNREAD, _SKIPPED)
)
_OF_HEAD = frozenset({"base", "link", "meta", "noscript", "script", "style", "template", "title"})
_NO_NAMES = " " * 4  # between the five attributes of Layout.names
_BREAK = "\0"  # stands for a `<br>` while a piece is read: no text of a page contains it
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none")


@dataclass(slots=True)
class PageLayout:
    """The pieces of text of a page in reading order, and the frames that contain them, column by column.

    A frame is an element that starts a new line. Frame `i` has the tag `tags[i]`, its class, id, role,
    itemprop and aria-label in one string, `names[i]`, and the parent `parents[i]`, -1 for the outermost; it
    contains the pieces `first[i]` to `last[i] - 1`. `roles` and `hidden` are sparse, by frame.

    A piece is an unbroken run of text in one frame, `owners[i]`. Its text has line breaks for `<br>` and all
    white space of a `<pre>`. `counts` has five numbers per piece: links, characters in links, characters in
    buttons, bold elements and all inline elements.
    """

    tags: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    roles: dict[int, str] = field(default_factory=dict)
    hidden: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    counts: list[tuple[int, int, int, int, int]] = field(default_factory=list)

    def lineage(self, frame: int) -> list[int]:
        """Return the frame and all frames around it, innermost first."""
        line = []
        while frame >= 0:
            line.append(frame)
            frame = self.parents[frame]
        return line

    def frames_of(self, tag: str) -> list[int]:
        """Return the frames of elements with this tag."""
        if tag not in self.tags:  # fast, since most pages lack most tags
            return []
        return [index for index, one in enumerate(self.tags) if one == tag]

    def contained_in(self, frames: Iterable[int]) -> list[bool]:
        """Return whether each piece is in any of these frames, given in ascending order."""
        inside = [False] * len(self.texts)
        end = 0
        for frame in frames:
            first, last = max(end, self.first[frame]), self.last[frame]
            if first < last:  # otherwise it lies in an earlier one
                inside[first:last] = [True] * (last - first)
                end = last
        return inside


def parse(markup: str | bytes) -> _Element | None:
    """Parse an HTML document or fragment, text or UTF-8, into an element tree; None if it has no element."""
    # Text is encoded first: lxml rejects text that declares another charset. The parser is not lxml.html's,
    # which calls a Python function for each element.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    body = markup.encode(errors="replace") if isinstance(markup, str) else markup
    try:
        tree: _Element | None = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        return None
    return tree


def lay_out(tree: _Element) -> PageLayout:
    """Read the layout of a page from its element tree."""
    head, body = tree.find("head"), tree.find("body")
    # Without `<body>`, libxml2 leaves elements unknown to it, such as `<main>`, in the head.
    strays = head is not None and any(child.tag not in _OF_HEAD for child in head)
    return _walk(tree if body is None or strays else body)


def _walk(body: _Element) -> PageLayout:
    # One loop over local variables: it takes a fifth of the time of a page, and 50% longer with state in
    # attributes. Only work done once per frame or piece is in functions. Elements are taken as they begin,
    # and end where the next one has another parent, which halves the steps of etree.iterwalk.
    layout = PageLayout()
    effect_of = _EFFECTS.get
    around = innermost = body.getparent()
    opened: list[tuple[_Element | None, int]] = []  # the state around the innermost open element
    effect = _BLOCK
    frame = -1  # the innermost
    in_links = in_buttons = verbatim = 0  # numbers of open elements
    parts: list[str] = []  # of the current piece
    broken = False  # whether the last part was a line break
    links = link_chars = button_chars = bold = inlines = 0  # of the current piece
    for element in chain(body.iter(), (None,)):
        parent = around if element is None else element.getparent()
        while True:
            starts = innermost is parent
            if starts:
                if element is None:  # the end of the page
                    break
                opened.append((innermost, effect))
                innermost = element
                if effect == _SKIPPED:
                    break
                effect = effect_of(element.tag, _BLOCK)
                if effect == _SKIPPED:
                    break
            # Two line breaks in a row separate paragraphs.
            if parts and (effect == _BLOCK or (effect == _LINE_BREAK and starts and broken)):
                counts = (links, link_chars, button_chars, bold, inlines)
                _add_piece(layout, frame, _joined(parts, verbatim), counts)
                parts, broken = [], False
                links = link_chars = button_chars = bold = inlines = 0
            elif effect == _LINE_BREAK and starts:
                parts.append(_BREAK)
                broken = True
            if starts:
                if effect == _BLOCK:
                    frame = _add_frame(layout, frame, element)
                    verbatim += element.tag == "pre"
                elif effect < _LINE_BREAK:
                    inlines += 1
                    if effect == _LINKED:
                        in_links += 1
                        links += 1
                    elif effect == _PRESSED:
                        in_buttons += 1
                    elif effect == _BOLD:
                        bold += 1
                text = element.text
            else:
                if effect == _BLOCK:
                    layout.last[frame] = len(layout.texts)
                    verbatim -= layout.tags[frame] == "pre"
                    frame = layout.parents[frame]
                elif effect == _LINKED:
                    in_links -= 1
                elif effect == _PRESSED:
                    in_buttons -= 1
                text = innermost.tail
                innermost, effect = opened.pop()
                if effect == _SKIPPED:
                    continue
            if text:
                if text.isspace() and not verbatim:  # as between most elements
                    if parts:
                        parts.append(" ")
                else:
                    parts.append(text)
                    broken = False
                    if in_links:
                        link_chars += len(text.strip())
                    if in_buttons:
                        button_chars += len(text.strip())
            if starts:
                break
    return layout


def _add_piece(layout: PageLayout, frame: int, text: str, counts: tuple[int, int, int, int, int]) -> None:
    """Add a piece of text in `frame`, unless it is empty."""
    if text:
        layout.texts.append(text)
        layout.owners.append(frame)
        layout.counts.append(counts)


def _add_frame(layout: PageLayout, parent: int, element: _Element) -> int:
    """Add the frame of an element inside the frame `parent`; return its index."""
    frame = len(layout.tags)
    layout.tags.append(element.tag)
    layout.parents.append(parent)
    layout.depths.append(layout.depths[parent] + 1 if parent >= 0 else 0)
    layout.first.append(len(layout.texts))
    layout.last.append(0)
    attributes = element.items()
    if not attributes:
        layout.names.append(_NO_NAMES)
    elif len(attributes) == 1 and attributes[0][0] == "class":  # as most have
        layout.names.append(attributes[0][1] + _NO_NAMES)
    else:
        layout.names.append(_read_attributes(dict(attributes), frame, layout))
    return frame


def _read_attributes(attributes: dict[str, str], frame: int, layout: PageLayout) -> str:
    """Note the role of a frame and whether it is hidden; return its names."""
    get = attributes.get
    if role := get("role", ""):
        layout.roles[frame] = role
    style = get("style")
    if (
        get("aria-hidden") == "true"
        or "hidden" in attributes
        or (style is not None and _HIDDEN_STYLE.search(style) is not None)
    ):
        layout.hidden.append(frame)
    label = get("aria-label", "")[:40]
    return f"{get('class', '')} {get('id', '')} {role} {get('itemprop', '')} {label}"


def _joined(parts: list[str], verbatim: int) -> str:
    text = "".join(parts)
    if verbatim:
        return text.replace(_BREAK, "\n").strip("\n").rstrip()
    if _BREAK in text:
        return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_BREAK))))
    return " ".join(text.split())
