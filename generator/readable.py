"""Sentences that a reader understands alone: not headings, fragments or announcements of what follows."""

from __future__ import annotations

import re

from citewell.core.notes import begins_with_name
from citewell.core.text import words

_STOP = re.compile(r"[.!?。！？…][\"'”’)\]]*$")
# Endings that announce what comes next, which a quoted sentence lacks.
_POINTS_AHEAD = re.compile(r"(?:\bfollows|\bbelow|\bfollowing(?: \w+)?)\W*$", re.IGNORECASE)
# Words of headings that have no capital, as in "Grant of Patent License."
_JOINING = frozenset("a an and at by for from in of on or the to with".split())  # noqa: SIM905
# Of a command, as in `Usage: cp [OPTION]... FILE`
_USAGE = re.compile(r"usage: .*\[[A-Z]+\]", re.IGNORECASE)
_AMOUNT = re.compile(r": .*\d")  # as in `TOTAL: 137.50.`
_OPENING = "\"'“‘«„「『《¿¡"
_SHORTEST, _LONGEST = 4, 90  # words
_SHORTEST_SHOUTED = 6  # words in capitals that are not a heading
_SHORTEST_PAIR = 2  # words of `Monday: closed.`


def is_readable(sentence: str) -> bool:
    """Return whether a piece of a passage can be quoted alone."""
    length = len(words(sentence))
    return (
        (_SHORTEST_PAIR if ": " in sentence else _SHORTEST) <= length <= _LONGEST
        and _STOP.search(sentence) is not None
        and "|" not in sentence
        and not _POINTS_AHEAD.search(sentence)
        and not _USAGE.match(sentence)
        and not _is_heading(sentence)
        and (
            sentence[0] in _OPENING
            or (sentence[0].isalnum() and not sentence[0].islower())
            or begins_with_name(sentence)
        )
    )


def _is_heading(sentence: str) -> bool:
    found = re.findall(r"[^\W\d_]+", sentence)
    if _AMOUNT.search(sentence) or (len(found) >= _SHORTEST_SHOUTED and sentence.isupper()):
        return False
    return all(word[0].isupper() or word in _JOINING for word in found)
