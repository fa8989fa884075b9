"""Sentences that cannot stand alone, since they refer to the one before."""

from __future__ import annotations

import re

_TIME = "(?:day|night|morning|evening|week|month|season|year|decade|century)"
_POINTS_BACK = re.compile(
    rf"the (?:following|next|same) {_TIME}\b|(?:\w+ ){{1,2}}{_TIME}s? later\b|"
    r"(?:\w+\W+){1,3}(?:he|she|it|they|this|these|those|such|above|however|therefore|nevertheless)\b|"
    r"(?:for (?:example|instance)|(?:by|in) contrast|as a result|in addition|on the other hand)\b|"
    r"(?:he|she|it|its|his|her|they|their|them|this|these|those|that|such|however|but|and|or|so|thus|"
    r"therefore|hence|moreover|furthermore|also|then|another|both|the former|the latter|yet|nor|"
    r"consequently|additionally|similarly|likewise|instead|otherwise|meanwhile|nevertheless)\b",
    re.IGNORECASE,
)


def points_back(sentence: str) -> bool:
    """Return whether a sentence begins with a pronoun or a time that refers to the one before."""
    return _POINTS_BACK.match(sentence) is not None
