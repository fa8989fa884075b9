"""How passages in view are named in a quote."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.browser.policies.legal import SHORTEST, Words
from citewell.core.text import split_sentences

LONGEST = 150
"""Words of a passage that is quoted at once, at most."""

_WHOLE = 12  # words up to which a passage is quoted word for word
_END = 4  # words of each end of a longer one


def passages(run: Words) -> Iterator[str]:
    """Every passage of whole sentences in words that follow each other, as `abbreviated` names it.

    A beginning in lower case is the end of a sentence above, and not in a passage.
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
    """A passage as it is quoted: a long one by its first and its last words."""
    parts = passage.split()
    if len(parts) <= _WHOLE:
        return " ".join(parts)
    return f"{' '.join(parts[:_END])}━{' '.join(parts[-_END:])}"
