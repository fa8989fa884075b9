"""The texts that are read for orders: sentences, parts of long ones, and sentences over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from citewell.generator.orders.detector import OrderDetector
from citewell.generator.orders.features import Numbers

_LONGEST = 2000  # characters of a text that are read as a whole
# Characters of the parts of a text: in a long one, the rest hides an order from an encoder.
_WINDOW = 160
_ENDED = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")


class _OrderReading(NamedTuple):
    """A text, and the first and last (exclusive) of the sentences that it stands for."""

    text: str
    first: int
    last: int


def read_sums(parts: Sequence[Sequence[str]], detector: OrderDetector) -> list[Numbers]:
    """Return the sums of the sentences of each part, which follow each other; above 0 is an order.

    A sentence has the sum of its part that is most like an order, and so have lines that are one sentence:
    those that begin with a small letter after a line without a stop.
    """
    readings = [list(_readings(part)) for part in parts]
    found = iter(detector.sums([each.text for part in readings for each in part]))
    sums = []
    for sentences, part in zip(parts, readings, strict=True):
        highest = np.full(len(sentences), -np.inf)
        for (_, first, last), value in zip(part, found, strict=False):
            highest[first:last] = np.maximum(highest[first:last], value)
        sums.append(highest)
    return sums


def _readings(sentences: Sequence[str]) -> Iterator[_OrderReading]:
    first = 0
    for place, sentence in enumerate(sentences):
        yield from (_OrderReading(text, place, place + 1) for text in _windows(sentence))
        if place and not _goes_on(sentences[place - 1], sentence):
            first = place
        is_last = place + 1 == len(sentences) or not _goes_on(sentence, sentences[place + 1])
        if is_last and place > first:
            whole = " ".join(sentences[first : place + 1])
            yield from (_OrderReading(text, first, place + 1) for text in _windows(whole))


def _goes_on(before: str, sentence: str) -> bool:
    is_begun = len(before.split()) > 1  # a single word may be a heading
    return is_begun and sentence[0].islower() and not _ENDED.search(before)


def _windows(text: str) -> Iterator[str]:
    """Yield a text, and if it is long, parts of it that overlap by half."""
    yield text[:_LONGEST]
    if len(text) > _WINDOW:
        step = _WINDOW // 2
        yield from (text[start : start + _WINDOW] for start in range(0, len(text) - step, step))
