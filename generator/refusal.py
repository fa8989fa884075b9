"""Recognizes an answer that says that the references do not answer the question."""

from __future__ import annotations

import re

REFUSAL = "The references do not say."
"""What the prompt asks a writer for."""

REFUSAL_BEGINNINGS = ("The references", "The reference")
"""How refusals begin; `REFUSAL` begins so too."""

_REFUSING = re.compile(
    r"\W*(?:(?:unfortunately|sorry|i'm sorry),?\s+)?(?:(?:based on|according to) [^,.]{0,40},\s+)?"
    r"(?:(?:the|these|this|none of the|no)\s+(?:(?:provided|given|available)\s+)?"
    r"(?:references?|texts?|passages?|sources?|information|context)(?:\s+provided)?\s+"
    r"(?:(?:do|does|did)(?: not|n't)\s+(?:\w+\s+){0,2}?"
    r"(?:say|mention|provide|contain|state|answer|specify|include|tell|give|describe|explain|name|discuss)"
    r"|(?:say|mention|provide|contain|state|answer|specify|include|tell)s?\b)"
    r"|(?:there is|i have|i found) no\b[^.]{0,30}(?:information|mention|answer|evidence)"
    r"|it is not (?:stated|mentioned|specified|possible to)"
    r"|[^.!?]{0,120}\b(?:is|are|was|were)(?: not|n't) (?:\w+ly )?"
    r"(?:stated|mentioned|specified|given|provided|included|found|described|said)\s+(?:in|by)\s+"
    r"(?:any of\s+)?(?:the|these|this)\s+(?:(?:provided|given|available)\s+)?"
    r"(?:references?|texts?|passages?|sources?|information|context)\b(?! of))",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\W*(?:none|no)\b|.*?(?:not|n't|no)\b", re.IGNORECASE | re.DOTALL)


def is_refusal(answer: str) -> bool:
    """Return whether an answer begins by saying that the references do not answer the question."""
    found = _REFUSING.match(answer)
    return found is not None and _NEGATED.match(found.group()) is not None
