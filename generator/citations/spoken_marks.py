"""Marks that a sentence uses as words, as "According to [1], tides …": they are moved to its end.

Without its marks, "According to, tides …" would be left for readers.
"""

from __future__ import annotations

import re

from citewell.core.marks import MARK
from citewell.core.notes import capitalized
from citewell.core.text import split_sentences

_MARKS = rf"{MARK.pattern}(?:(?:\s*,)?(?:\s*(?:and|&|or))?\s*{MARK.pattern})*"
_THING = r"(?:the\s+)?(?:(?:references?|sources?|passages?|documents?|articles?|texts?)\s+)?"
_SAYS = r"(?:says?|states?|explains?|notes?|mentions?|reports?|confirms?|shows?|adds?|writes?)"
_INTRODUCTION = re.compile(
    rf"(?:(?:according\s+to|based\s+on|as\s+(?:\w+\s+)?(?:in|by)|from|in|per)\s+{_THING}{_MARKS}\s*,\s*"
    rf"|as\s+{_THING}{_MARKS}\s+{_SAYS}\s*,\s*"
    rf"|{_THING}{_MARKS}\s+(?:also\s+|both\s+|further\s+)?{_SAYS}\s+that\s+)(?=[*_]*\w)",
    re.I,
)
_ASIDE = re.compile(
    rf"\(\s*(?:(?:see|cf\.|source:?|sources:?|from)\s+)?{_THING}(?P<marks>{_MARKS})\s*\)", re.I
)
_STOPS = " .,;:!?"


def with_marks_moved(answer: str) -> str:
    """Return an answer in which no phrase such as "According to [1]," or "(see [1])" needs its marks.

    The phrases that are known are English; others stay.
    """
    answer = _ASIDE.sub(lambda found: _marks(found["marks"]), answer)
    moved, start = [], 0
    for sentence in split_sentences(answer) if MARK.search(answer) else ():
        found = _INTRODUCTION.match(sentence)
        if not found:
            continue
        begins = answer.index(sentence, start)
        rest = sentence[found.end() :]
        stop = len(rest.rstrip(_STOPS))
        moved += [answer[start:begins], capitalized(rest[:stop]), _marks(found.group()), rest[stop:]]
        start = begins + len(sentence)
    return "".join((*moved, answer[start:]))


def _marks(text: str) -> str:
    return "".join(f"[{numbers}]" for numbers in MARK.findall(text))
