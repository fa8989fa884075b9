"""Naming of passages in view in a quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citewell.core.text import split_sentences

SHORTEST = 4
"""Minimum words of a passage to quote."""

LONGEST = 150
"""Maximum words of a quoted passage."""

Words = tuple[str, ...]

_WHOLE = 12  # words up to which a passage is quoted word for word
_END = 4  # words of each end of a longer one


def passages(run: Words) -> Iterator[str]:
    """Yield every passage of whole adjacent sentences in words, as `abbreviated` names it.

    A paragraph that begins in lower case starts with the end of a sentence above, which is skipped.
    """
    sentences = [sentence.split() for sentence in split_sentences(" ".join(run))]
    if len(sentences) > 1 and sentences[0][0][0].islower():
        del sentences[0]
    for first in range(len(sentences)):
        passage: list[str] = []
        for sentence in sentences[first:]:
            passage += sentence
            if len(passage) > LONGEST and len(passage) > len(sentence):
                break
            if len(passage) >= SHORTEST:
                yield abbreviated(" ".join(passage))


def abbreviated(passage: str) -> str:
    """Return the passage in the form of a quote: a long one is abbreviated to its first and last words."""
    parts = passage.split()
    return " ".join(parts) if len(parts) <= _WHOLE else _ends(parts)


def names(passage: str) -> tuple[str, str]:
    """Return the quotes that name the passage, also where they are meant for another one with its ends."""
    return abbreviated(passage), _ends(passage.split())


def _ends(parts: Sequence[str]) -> str:
    return f"{' '.join(parts[:_END])}━{' '.join(parts[-_END:])}"
