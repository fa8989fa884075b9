"""Takes words that speak of the references out of an answer: readers see marks, and no references by name."""

from __future__ import annotations

import re

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
