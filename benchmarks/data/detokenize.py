"""Text whose tokens a corpus separated by spaces, as people write it."""

from __future__ import annotations

import re

from benchmarks.data.rows import one_line

# In this order: a step sees what the ones before it joined.
_STEPS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"-L[RS]B-", lambda found: "(" if found[0] == "-LRB-" else "["),
        (r"-R[RS]B-", lambda found: ")" if found[0] == "-RRB-" else "]"),
        (r" ([)\]])", r"\1"),
        (r"([(\[$£]) ", r"\1"),
        (r"`` ?| ?''", '"'),
        (r" ('s|'re|'ve|'ll|'d|'m|n't)(?= |$)", r"\1"),
        (r" '(?= )", "'"),
        (r" ([,.;:!?%])", r"\1"),
        (r" -- ", " – "),
        (r"(\w) - (\w)", r"\1-\2"),
    )
)


def detokenized(text: str) -> str:
    """Return a text without the spaces around marks, with quotation marks and dashes for their codes."""
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    return one_line(text)
