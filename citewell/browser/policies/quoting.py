"""Naming of passages in view in a quote."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.browser.policies.legal import SHORTEST, Words
from citewell.core.text import split_sentences

LONGEST = 150
"""Maximum words of a quoted passage."""

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
    if len(parts) <= _WHOLE:
        return " ".join(parts)
    return f"{' '.join(parts[:_END])}━{' '.join(parts[-_END:])}"
