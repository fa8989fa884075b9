"""When a model refuses to answer from the references, and how such an answer is recognized."""

from __future__ import annotations

import math
import re

REFUSAL = "The references do not say."
"""What the prompt asks a writer for."""

REFUSAL_BEGINNINGS = ("The references", "The reference")
"""How refusals begin; `REFUSAL` begins so too."""

# The probability that a sentence answers at which the setting holds as it is, and how much more its logit
# weighs than that of the refusal (`python -m benchmarks.enough`).
_TYPICAL, _WEIGHT = 0.72, 8.0
# Nearer to 0 or 1, the probability that a sentence answers tells no more.
_NEAREST = 0.05
# A likelier refusal is believed, whatever a sentence seems to answer.
_BELIEVED = 0.6

_TEXTS = (
    r"(?:any of\s+)?(?:the|these|this|any)\s+(?:(?:provided|given|available)\s+)?"
    r"(?:references?|texts?|passages?|sources?|information|context)\b(?! of)"
)
_REFUSING = re.compile(
    r"\W*(?:(?:unfortunately|sorry|i'm sorry),?\s+)?(?:(?:based on|according to) [^,.]{0,40},\s+)?"
    r"(?:(?:the|these|this|none of the|no)\s+(?:(?:provided|given|available)\s+)?"
    r"(?:references?|texts?|passages?|sources?|information|context)(?:\s+provided)?\s+"
    r"(?:(?:do|does|did)(?: not|n't)\s+(?:\w+\s+){0,2}?"
    r"(?:say|mention|provide|contain|state|answer|specify|include|tell|give|describe|explain|name|discuss)"
    r"|(?:say|mention|provide|contain|state|answer|specify|include|tell)s?\b)"
    r"|(?:there is|i have|i found) no\b[^.]{0,30}(?:mention|answer|evidence|information)"
    rf"(?:\W*$|\W*\[|\b[^.]{{0,80}}\b(?:in|from|within)\s+{_TEXTS})"
    r"|(?:there is|i have|i found) no\b[^.]{0,30}information\s+"
    r"(?:provided|given|available|about|on|regarding)\b"
    r"|it is not possible to (?:say|tell|answer|determine|know|find|give|provide)\b"
    rf"|it is not (?:stated|mentioned|specified)\b(?! (?:in|by)\b(?!\s+{_TEXTS}))"
    r"|[^.!?]{0,120}\b(?:is|are|was|were)(?: not|n't) (?:\w+ly )?"
    r"(?:stated|mentioned|specified|given|provided|included|found|described|said)\s+(?:in|by)\s+"
    rf"{_TEXTS})",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\W*(?:none|no)\b|.*?(?:not|n't|no)\b", re.IGNORECASE | re.DOTALL)


def least_refusal(least: float, likely: float) -> float:
    """Return the probability of a refusal from which on a model refuses.

    That is `least` for typical questions; 1 never refuses. It is lower the less `likely` a sentence of the
    references answers the question, and higher the more (all 0 to 1), but no higher than .6 for that.
    """
    if least == 1:
        return 1.0
    told = min(max(likely, _NEAREST), 1 - _NEAREST)
    found = _logit(least) + _WEIGHT * (_logit(told) - _logit(_TYPICAL))
    return min(1 / (1 + math.exp(-found)), max(least, _BELIEVED))


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def is_refusal(answer: str) -> bool:
    """Return whether an answer begins by saying that the references do not answer the question."""
    found = _REFUSING.match(answer)
    return found is not None and _NEGATED.match(found.group()) is not None
