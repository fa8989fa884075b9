"""The sentences of a passage that have the words of a claim, which is what a judge of the claim reads."""

from __future__ import annotations

from citewell.core.pointing_back import points_back
from citewell.core.quotable import pieces
from citewell.core.stated_aims import may_answer
from citewell.core.text import content_words
from citewell.core.windows import best_window
from citewell.generator.citations.support import stems

_GAP = "…"


def covering(passage: str, claim: str, most: int, question: str = "") -> str:
    """Return sentences, items and rows that together have all words of `claim` that `passage` has.

    The one with most of the words that are left is taken until none is left. They stay in order, with an
    ellipsis for a gap, and one that points back follows the sentence before it. Where no word is found or the
    sentences have more than `most` words, the best window of so many is returned. What only states the aim of
    a study is left out if anything else is said, unless `question` asks for it. A small model judges better
    by these than by the whole passage, and reads them faster.
    """
    parts = pieces(passage)
    parts = [part for part in parts if may_answer(question, part)] or parts
    places = _places([stems(content_words(part)) for part in parts], stems(content_words(claim)))
    places |= {place - 1 for place in places if place and points_back(parts[place])}
    if not places or sum(len(parts[place].split()) for place in places) > most:
        return best_window("\n".join(parts), claim, most)
    shown, before = "", -1
    for place in sorted(places):
        gap = f" {_GAP} " if place > before + 1 else " "
        shown, before = f"{shown}{gap if shown else ''}{parts[place]}", place
    return shown


def _places(has: list[frozenset[str]], left: frozenset[str]) -> set[int]:
    """Return the places of the parts that cover what can be covered of the words that are `left`."""
    found: set[int] = set()
    while left:
        best = max(range(len(has)), key=lambda place: len(has[place] & left), default=None)
        if best is None or not has[best] & left:
            break
        found.add(best)
        left -= has[best]
    return found
