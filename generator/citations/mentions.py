"""Takes what belongs to the references, and not to what they say, out of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

_REFERENCES = r"(?:the\s+)?(?:(?:given|provided)\s+)?references?"
_SEEN = r"(?:mentioned|stated|described|shown|noted|explained|listed|specified|given|seen)"
# "…, as mentioned in the reference", whose marks stay.
_AFTER = re.compile(
    rf",?\s+as\s+(?:is\s+)?{_SEEN}\s+(?:in|by)\s+{_REFERENCES}\b(?=\s*[.,;:\[]|\s*$)", re.IGNORECASE
)
# "According to the references, …"
_BEFORE = re.compile(
    rf"(?P<start>^|(?<=[.!?\]\n])\s+)(?:according\s+to|based\s+on|as\s+{_SEEN}\s+in)\s+{_REFERENCES},\s*(?P<first>\w)",
    re.IGNORECASE,
)


def without_mentions(answer: str) -> str:
    """Return an answer without phrases such as "as mentioned in the reference"."""
    left = _AFTER.sub("", answer)
    return _BEFORE.sub(lambda found: (found["start"] or "") + found["first"].upper(), left)


def without_titles(answer: str, titles: Iterable[str]) -> str:
    """Return an answer without titles of references before sentences, as in `Kites, History: Kites are …`.

    A small model copies them from its prompt, with the ellipsis that stands there for left-out sentences. A
    title stays where the text goes on in lower case, as the label of a list does.
    """
    named = "|".join(re.escape(title) for title in sorted(filter(None, titles), key=len, reverse=True))
    if not named:
        return answer
    return re.sub(rf"(^|(?<=[.!?\]])\s+|\n)(?:(?:{named}): (?:… )?)+(?=\W?[^\W_a-z])", r"\1", answer)
