"""Passages in parts that a model can read at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from citewell.core.text import split_sentences


def parts(passages: Sequence[str], most: int, length: Callable[[str], int]) -> Iterator[str]:
    """Yield the sentences of passages, joined up to the length `most`; a single sentence may be longer."""
    part: list[str] = []
    size = 0
    for passage in passages:
        for line in passage.splitlines():
            for sentence in split_sentences(line):
                more = length(sentence)
                if part and size + more > most:
                    yield " ".join(part)
                    part, size = [], 0
                part.append(sentence)
                size += more
    if part:
        yield " ".join(part)
