"""Does a text deny something, in English?"""

from __future__ import annotations

from citewell.core.text import words

_DENIALS = frozenset(  # or nearly
    "not no never none nobody neither nor without cannot seldom rarely hardly scarcely "  # noqa: SIM905
    "forbidden prohibited banned".split()
)


def denies(text: str) -> bool:
    """Return whether a text has a word that denies, or nearly, such as `never` and `seldom`."""
    return bool(_DENIALS & set(words(text))) or "n't" in text.replace("’", "'")
