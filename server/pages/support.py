"""The words of a passage that support a sentence, as the check of citations counts them."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from citewell.core.text import content_words, words

_JOINING = re.compile(r"\s*|['’.,‐‑-]")  # between two words of one piece


class Piece(NamedTuple):
    """A piece of a text, marked if its words support the sentence in question."""

    text: str
    supports: bool


def supporting(sentence: str, text: str) -> tuple[Piece, ...]:
    """Cut a text into pieces, and mark the pieces that support a sentence.

    A word supports a sentence where it is one of its content words: the same rule as that of
    `citewell.generator.citations.support`, ROUGE-1 precision without stop words. Neighbouring words that
    support are one piece. The pieces, joined, are the text in NFC.
    """
    text = unicodedata.normalize("NFC", text)
    wanted = set(content_words(sentence))
    # A letter that becomes two in lower case would shift all positions after it.
    lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    pieces: list[Piece] = []
    done = place = 0
    for word in words(lowered):
        start = lowered.find(word, place)
        if start < 0:
            continue
        place = start + len(word)
        if word not in wanted:
            continue
        between = text[done:start]
        if pieces and _JOINING.fullmatch(between):
            pieces[-1] = Piece(pieces[-1].text + between + text[start:place], supports=True)
        else:
            if between:
                pieces.append(Piece(between, supports=False))
            pieces.append(Piece(text[start:place], supports=True))
        done = place
    if done < len(text):
        pieces.append(Piece(text[done:], supports=False))
    return tuple(pieces)
