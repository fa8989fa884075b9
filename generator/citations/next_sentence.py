"""Without a sure answer, the sentence after the closest one is shown too: it often tells what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.core.quotable import quotable
from citewell.core.text import words
from citewell.core.types import Reference, Sentence
from citewell.generator.readable import is_readable

_LONGEST = 40  # words


def with_next(quotations: Sequence[Sentence], references: Sequence[Reference]) -> tuple[Sentence, ...]:
    """Return the quotations with the sentence that follows the first one in its reference.

    Only a short one that can be quoted alone: "A plastic bag blocked the inlet.", after "The engine ran hot
    off the cape.", which alone shares words with "Why did the motor get hot?".
    """
    if not quotations or not quotations[0].citations:
        return tuple(quotations)
    first, *others = quotations
    texts = {reference.number: reference.text for reference in references}
    found = [piece.text for piece in quotable(texts[first.citations[0]])]
    after = found[found.index(first.text) + 1 :][:1] if first.text in found else []
    quoted = {each.text for each in quotations}
    shown = (t for t in after if t not in quoted and len(words(t)) <= _LONGEST and is_readable(t))
    added = [replace(first, text=t) for t in shown]
    return (first, *added, *others)
