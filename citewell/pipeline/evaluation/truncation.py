"""The beginning of an answer, as WebGPT judged it on TruthfulQA (§4.2)."""

from __future__ import annotations

import re

from citewell.core.text import split_sentences

TOKENS = 50
_LONG = 8  # letters
_PIECE = re.compile(r"\w+|[^\w\s]")


def shortened(answer: str, most: int = TOKENS) -> str:
    """Return the first `most` tokens of an answer without a trailing partial sentence.

    It is empty if its first sentence is longer, as for 3% of WebGPT's answers. GPT-3's tokens are estimated,
    equally for all systems: a word or a mark is one, and a long word one more per eight letters.
    """
    kept: list[str] = []
    for sentence in split_sentences(answer):
        most -= sum(1 + (len(piece) - 1) // _LONG for piece in _PIECE.findall(sentence))
        if most < 0:
            break
        kept.append(sentence)
    return " ".join(kept)
