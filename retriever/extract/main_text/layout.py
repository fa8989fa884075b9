"""An HTML page as pieces of text in the frames that hold them, in reading order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

# Elements that show no text of the page, with all that is in them.
_UNREAD = frozenset(
    "applet area audio base canvas datalist embed frame frameset iframe input link map meta object "  # noqa: SIM905
    "option param script select source style svg template textarea title track video".split()
)
# Elements that do not break a line (https://html.spec.whatwg.org/multipage/text-level-semantics.html).
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
_BREAK = "\0"  # stands for a `<br>` while a piece is read: no text of a page holds it
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none")


@dataclass(slots=True)
class PageLayout:
    """The pieces of text of a page in reading order, and the frames that hold them, column by column.

    A frame is an element that begins a new line. Frame `i` has `tags[i]`, in `names[i]` its class, id, role,
    itemprop and aria-label in one string, and in `parents[i]` the frame around it, -1 for the outermost; it
    holds the pieces `first[i]` to `last[i] - 1`. Few frames have a role or are `hidden`.

    A piece is a run of text without a break inside one frame, which is `owners[i]`. Its text has a line break
    where the author put a `<br>`, and all white space of a `<pre>`. `counts` has five numbers for each piece:
    links and the characters in them, characters in buttons, bold elements, all inline elements.
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
        """The frame and those around it, innermost first."""
        line = []
        while frame >= 0:
            line.append(frame)
            frame = self.parents[frame]
        return line

    def frames_of(self, tag: str) -> list[int]:
        """The frames of elements with this tag."""
        if tag not in self.tags:  # most pages have none of most tags
            return []
        return [index for index, one in enumerate(self.tags) if one == tag]

    def held_by(self, frames: Iterable[int]) -> list[bool]:
        """Which pieces are in one of these frames, whose indices ascend."""
        held = [False] * len(self.texts)
        end = 0
        for frame in frames:
            first, last = max(end, self.first[frame]), self.last[frame]
            if first < last:  # else it is in one that was there before
                held[first:last] = [True] * (last - first)
                end = last
        return held


def parse(markup: str | bytes) -> _Element | None:
    """The element tree of an HTML document or fragment, of text or UTF-8; None where it has no element."""
    # Text as bytes, because a declaration in the text may name another charset, which lxml refuses.
    # Plain elements: those of lxml.html are each looked up by a function in Python.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    body = markup.encode(errors="replace") if isinstance(markup, str) else markup
    try:
        tree: _Element | None = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        return None
    return tree


def lay_out(tree: _Element) -> PageLayout:
    """Walk over the page once and write down its pieces."""
    head, body = tree.find("head"), tree.find("body")
    # Without `<body>`, libxml2 leaves elements that it does not know, such as `<main>`, in the head.
    strays = head is not None and any(child.tag not in _OF_HEAD for child in head)
    return _walk(tree if body is None or strays else body)


def _walk(body: _Element) -> PageLayout:
    # One long loop over local variables: with methods that share attributes it takes half as long again,
    # and it is a fifth of the time of a page. Elements are taken as they begin, and end where the next one
    # has another parent: half the steps of etree.iterwalk.
    layout = PageLayout()
    tags, names, parents, depths = layout.tags, layout.names, layout.parents, layout.depths
    first, last, texts = layout.first, layout.last, layout.texts
    effect_of = _EFFECTS.get
    around = innermost = body.getparent()
    opened: list[tuple[_Element | None, int]] = []  # what is around the innermost open element
    effect = _BLOCK
    frame = -1  # the innermost
    in_links = in_buttons = verbatim = 0  # elements that are open
    parts: list[str] = []  # of the piece that is being read
    broken = False  # the last part was a line break
    links = link_chars = button_chars = bold = inlines = 0  # of the piece
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
                tag = element.tag
                effect = effect_of(tag, _BLOCK)
                if effect == _SKIPPED:
                    break
            # Two line breaks in a row part paragraphs.
            if parts and (effect == _BLOCK or (effect == _LINE_BREAK and starts and broken)):
                if text := _joined(parts, verbatim):
                    texts.append(text)
                    layout.owners.append(frame)
                    layout.counts.append((links, link_chars, button_chars, bold, inlines))
                parts, broken = [], False
                links = link_chars = button_chars = bold = inlines = 0
            elif effect == _LINE_BREAK and starts:
                parts.append(_BREAK)
                broken = True
            if starts:
                if effect == _BLOCK:
                    parents.append(frame)
                    depths.append(depths[frame] + 1 if frame >= 0 else 0)
                    frame = len(tags)
                    tags.append(tag)
                    first.append(len(texts))
                    last.append(0)
                    attributes = element.items()
                    if not attributes:
                        names.append(_NO_NAMES)
                    elif len(attributes) == 1 and attributes[0][0] == "class":  # as most have
                        names.append(attributes[0][1] + _NO_NAMES)
                    else:
                        names.append(_read_attributes(dict(attributes), frame, layout))
                    verbatim += tag == "pre"
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
                    last[frame] = len(texts)
                    verbatim -= tags[frame] == "pre"
                    frame = parents[frame]
                elif effect == _LINKED:
                    in_links -= 1
                elif effect == _PRESSED:
                    in_buttons -= 1
                text = innermost.tail
                innermost, effect = opened.pop()
                if effect == _SKIPPED:
                    continue
            if text:
                if text.isspace() and not verbatim:  # what stands between most elements
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


def _read_attributes(attributes: dict[str, str], frame: int, layout: PageLayout) -> str:
    """Note whether a frame has a role and whether it is hidden; returns its names."""
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
