"""References with their orders marked, and the part of them that is evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from citewell.core.text import split_sentences, without_sentences
from citewell.core.types import Reference
from citewell.generator.orders.detector import OrderDetector

# The sum of a sentence next to an order above which it belongs to the order.
_NEAR = -1.5
_LONGEST = 2000  # characters of a title or sentence that are read


def mark_orders(references: Sequence[Reference], detector: OrderDetector) -> tuple[Reference, ...]:
    """Return the references with the sentences, and the title, that give orders to a language model.

    A doubtful sentence next to an order counts as one: orders often go on for several sentences.
    """
    pieces = [[reference.title, *sentences_of(reference.text)] for reference in references]
    sums = iter(detector.sums([piece[:_LONGEST] for own in pieces for piece in own]))
    marked = []
    for reference, own in zip(references, pieces, strict=True):
        found = [float(next(sums)) for _ in own]
        chosen = {place for place, value in enumerate(found) if value > 0}
        chosen |= {
            place
            for place in range(1, len(own))
            if found[place] > _NEAR and {place - 1, place + 1} & (chosen - {0})
        }
        orders = tuple(dict.fromkeys(own[place] for place in sorted(chosen)))
        marked.append(replace(reference, orders=orders) if orders else reference)
    return tuple(marked)


def evidence_of(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """Return the references without their orders; one of which nothing else is left has no text."""
    return tuple(_evidence(reference) if reference.orders else reference for reference in references)


def order_notices(references: Sequence[Reference]) -> list[str]:
    """Return a notice for each page whose orders were left out."""
    counts: dict[str, int] = {}
    for reference in references:
        if reference.orders:
            counts[reference.url] = counts.get(reference.url, 0) + len(reference.orders)
    return [
        f"A page gives orders to its reader; {count} {'sentence was' if count == 1 else 'sentences were'} "
        f"left out: {url}"
        for url, count in counts.items()
    ]


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text as they stand in it; a line ends one."""
    return [sentence for line in text.splitlines() for sentence in split_sentences(line)]


def _evidence(reference: Reference) -> Reference:
    orders = frozenset(reference.orders)
    text = without_sentences(reference.text, orders)
    title = "" if _holds(reference.title, orders) else reference.title
    headings = tuple(heading for heading in reference.headings if not _holds(heading, orders))
    return replace(reference, title=title, text=text, headings=headings, orders=())


def _holds(text: str, orders: Iterable[str]) -> bool:
    return any(order in text for order in orders)
