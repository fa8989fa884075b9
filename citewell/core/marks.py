"""The marks by which an answer cites its references: `[1]`, `[1][2]` or `[1, 2]`."""

from __future__ import annotations

import re

from citewell.core.formulas import held, restored

MARK = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")
# Marks whose removal leaves no space: before a stop, and between letters of scripts without spaces.
_CLOSING = re.compile(
    rf"(?:\s*{MARK.pattern})+\s*(?=[.,;:!?](?!\w)|[。！？、，；：])"
    rf"|(?<=[\u0e00-\uffff])(?:{MARK.pattern})+(?=[\u0e00-\uffff])"
)


def without_marks(text: str) -> str:
    """Return a text without its marks, each with a space in its place where words would run together."""
    return MARK.sub(" ", _CLOSING.sub("", text))


def unmarked_answer(answer: str) -> str:
    """Return an answer without its marks; what is in code or a formula, as in `argv[1]`, is none."""
    text, held_back = held(answer, code=True)
    return restored(without_marks(text), held_back)
