"""Pages of the text browser without sentences that give orders to a language model."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from citewell.browser.characters import MARK, stripped
from citewell.browser.page import TextPage
from citewell.core.text import split_sentences
from citewell.core.types import Reference
from citewell.generator.orders.detector import OrderDetector
from citewell.generator.orders.marking import left_out, mark_orders

_MARKUP = "#*> "  # before a heading, an item of a list, and a quotation
_GAP = re.compile(r"(?<=\S) {2,}")


def without_orders(page: TextPage, detector: OrderDetector) -> TextPage:
    """Return the page without the orders that `mark_orders` finds in its title and text; a note counts them.

    A link whose text belongs to an order goes with it, and keeps its number without its text. A title with
    an order becomes the domain. Errors and the titles of results are not a page's own words.
    """
    if page.kind == "error":
        return page
    name = page.name if page.kind == "page" else ""
    (marked,) = mark_orders([Reference(1, page.url, name, stripped(page.text), 0.0)], detector)
    if not (orders := marked.orders):
        return page
    text = "\n".join(_cut(line, orders) for line in page.text.split("\n")).strip("\n")
    different = {order.lstrip(_MARKUP) for order in orders}
    note = f"[This page gives orders to its reader; {left_out(len(different))}.]"
    kept = {int(mark[1]) for mark in MARK.finditer(text)}
    links = tuple(
        link if number in kept else replace(link, text="") for number, link in enumerate(page.links)
    )
    page = replace(page, text=f"{text}\n\n{note}".lstrip("\n"), links=links)
    if any(order in name for order in orders):
        return replace(page, name=page.domain, title=page.domain)
    return page


class _OrderSpan(NamedTuple):
    begin: int
    end: int


def _cut(line: str, orders: Collection[str]) -> str:
    """Return a marked line without the sentences that are orders; nothing if only signs would be left."""
    spans = list(_spans(stripped(line), orders))
    if not spans:
        return line
    kept: list[str] = []
    shown = end = 0  # of the line without and with marks
    for mark in MARK.finditer(line):
        kept.append(_outside(line[end : mark.start()], shown, spans))
        shown += mark.start() - end
        here = _OrderSpan(shown, shown + len(mark[2]))
        if not any(span.begin < here.end and here.begin < span.end for span in spans):
            kept.append(mark[0])
        shown, end = here.end, mark.end()
    kept.append(_outside(line[end:], shown, spans))
    rest = _GAP.sub(" ", "".join(kept)).rstrip()
    return rest if any(character.isalnum() for character in rest) else ""


def _spans(line: str, orders: Collection[str]) -> Iterator[_OrderSpan]:
    """Yield the places of the orders in a line without marks."""
    end = 0
    for sentence in split_sentences(line):
        begin = line.index(sentence, end)
        end = begin + len(sentence)
        if sentence in orders:
            yield _OrderSpan(begin, end)


def _outside(text: str, start: int, spans: Collection[_OrderSpan]) -> str:
    """Return the characters of a text that begins at `start` which are in no span."""
    places = enumerate(text, start)
    return "".join(character for place, character in places if not any(b <= place < e for b, e in spans))
