"""The question that a language model is asked about a claim: does the passage say all of it?"""

from __future__ import annotations

from citewell.generator.prompt import Message

MOST_WORDS = 600
"""Words of a passage that are shown at once."""

_INSTRUCTION = "You judge whether a passage supports a claim. Reply with one word: Yes or No."
_ASKED = """\
Passage: {passage}

Claim: {claim}

Does the passage say all that the claim says?"""


def support_prompt(claim: str, passage: str) -> list[Message]:
    """Return the messages of a judgment; a passage of more than `MOST_WORDS` words is cut."""
    shown = " ".join(passage.split()[:MOST_WORDS])
    return [
        {"role": "system", "content": _INSTRUCTION},
        {"role": "user", "content": _ASKED.format(passage=shown, claim=claim)},
    ]
