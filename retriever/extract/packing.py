"""Packing of parts into passages of a good length that begin and end where the author's text does."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.retriever.extract.parts import Part, count_words, measure

_GOAL = 110  # words
_TINY = 12  # words; a shorter passage is a fragment
_TOO_TINY = 10.0
_SHORT = 2.0
_UNEVEN = 0.2


def pack(parts: Sequence[Part], least: int, most: int) -> list[Sequence[Part]]:
    """Divide parts into runs of `least` to `most` words where possible, at the lowest total cost.

    This is dynamic programming over the places between parts, as in the division of a paragraph into lines
    (Knuth and Plass 1981, https://doi.org/10.1002/spe.4380111102).
    """
    ends = [0.0]  # the lowest cost of the passages that end before each part
    starts = [0]  # where the last of these begins
    for end in range(1, len(parts) + 1):
        best = float("inf")
        place = end - 1
        size = count = 0
        joins = 0.0
        for start in range(end - 1, -1, -1):
            first = parts[start]
            size += first.size
            count += first.length
            if size > most and start < end - 1:
                break
            header = first.header
            if start == end - 1 or size + (measure(header) if header else 0) <= most:
                length = count + (count_words(header) if header else 0)
                cost = ends[start] + joins + _length_cost(length, least) + (first.cut if start else 0.0)
                if cost < best:
                    best, place = cost, start
            joins += first.join
        ends.append(best)
        starts.append(place)
    runs: list[Sequence[Part]] = []
    end = len(parts)
    while end:
        runs.append(parts[starts[end] : end])
        end = starts[end]
    return runs[::-1]


def _length_cost(count: int, least: int) -> float:
    if count >= least:
        return _UNEVEN * ((count - _GOAL) / _GOAL) ** 2
    return _SHORT * (least - count) / least + (_TOO_TINY if count < min(_TINY, least) else 0.0)
