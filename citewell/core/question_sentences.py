"""Sentences that ask: they have the words of a question, and the answer comes after them."""

from __future__ import annotations

import re

_MARK = re.compile(r"[?？][\"'”’)\]]*$")
_ASKER = (
    r"(?:beginners|children|clients|customers|guests|members|newcomers|parents|patients|people|readers|students|"
    r"tourists|users|visitors)"
)
_ASKS = "(?:ask|asked|wonder|wondered)"
# "People often ask us why a clock stops.", "You may wonder how it works.", "We are asked if dogs may come.":
# nothing follows that could be the answer.
_REPORTED = re.compile(
    rf"(?:(?:\w+ ){{0,2}}{_ASKER}(?: \w+){{0,2}} {_ASKS}|you (?:may|might) (?:\w+ )?(?:ask|wonder)|"
    r"(?:I am|it is|we are) (?:\w+ )?asked)"
    r"(?: (?:me|us|ourselves|themselves|yourself))?(?: \w+)? "
    r"(?:how|if|what|when|where|whether|which|who|whom|whose|why)\b[^,;:–—]*\.$",
    re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Return whether a sentence only asks, itself or as in `People ask why a clock stops.`"""
    return _MARK.search(sentence) is not None or _REPORTED.match(sentence) is not None
