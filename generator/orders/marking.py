"""References with their orders marked, and the part of them that is evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from citewell.core.text import split_sentences, without_sentences
from citewell.core.types import Reference
from citewell.generator.orders.detector import OrderDetector
from citewell.generator.orders.features import Numbers
from citewell.generator.orders.readings import read_sums

# The sum of a sentence next to an order above which it belongs to the order.
_NEAR = -1.5


def mark_orders(references: Sequence[Reference], detector: OrderDetector) -> tuple[Reference, ...]:
    """Return the references with the sentences that give orders to a language model.

    Titles and headings are read like the text below them. A doubtful sentence next to an order counts as
    one: orders often go on for several sentences.
    """
    pieces = [_pieces(reference) for reference in references]
    sums = iter(read_sums([part for own in pieces for part in own], detector))
    marked = []
    for reference, own in zip(references, pieces, strict=True):
        orders = tuple(dict.fromkeys(order for part in own for order in _orders(part, next(sums))))
        marked.append(replace(reference, orders=orders) if orders else reference)
    return tuple(marked)


def evidence_of(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """Return the references without their orders; one of which nothing else is left has no text.

    A title or heading that has an order is left out whole.
    """
    return tuple(_evidence(reference) if reference.orders else reference for reference in references)


def order_notices(references: Sequence[Reference]) -> list[str]:
    """Return a notice for each page whose orders were left out."""
    found: dict[str, set[str]] = {}
    for reference in references:
        if reference.orders:
            found.setdefault(reference.url, set()).update(reference.orders)
    return [
        f"A page gives orders to its reader; {left_out(len(orders))}: {url}" for url, orders in found.items()
    ]


def left_out(count: int) -> str:
    """Return the words that say how many sentences were left out."""
    return f"{count} {'sentence was' if count == 1 else 'sentences were'} left out"


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text as they stand in it; a line ends one."""
    return [sentence for line in text.splitlines() for sentence in split_sentences(line)]


def _pieces(reference: Reference) -> tuple[list[str], list[str]]:
    """Return the sentences of the title, and those of the headings and the text, which follow each other."""
    texts = [*reference.headings, reference.text]
    return sentences_of(reference.title), [sentence for text in texts for sentence in sentences_of(text)]


def _orders(sentences: Sequence[str], sums: Numbers) -> list[str]:
    """Return the orders among sentences that follow each other."""
    sure = {place for place, value in enumerate(sums) if value > 0}
    return [
        sentence
        for place, (sentence, value) in enumerate(zip(sentences, sums, strict=True))
        if value > 0 or (value > _NEAR and {place - 1, place + 1} & sure)
    ]


def _evidence(reference: Reference) -> Reference:
    orders = frozenset(reference.orders)
    text = without_sentences(reference.text, orders)
    title = "" if _holds(reference.title, orders) else reference.title
    headings = tuple(heading for heading in reference.headings if not _holds(heading, orders))
    return replace(reference, title=title, text=text, headings=headings, orders=())


def _holds(text: str, orders: Iterable[str]) -> bool:
    return any(order in text for order in orders)
