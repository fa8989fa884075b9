"""Questions as people type them into a search box."""

from __future__ import annotations

import random

from citewell.core.text import content_words


def as_typed(question: str, chance: random.Random) -> str:
    """Return a question in lower case without its final mark or, half of the time, only its content words.

    A question of fewer than two content words keeps all its words.
    """
    plain = " ".join(question.split()).rstrip(" ?.!").lower()
    keywords = content_words(plain)
    return " ".join(keywords) if chance.random() < 0.5 and len(keywords) > 1 else plain
