"""Reasons why something failed, as people read them: one short line, whatever a stranger put into it."""

from __future__ import annotations

import unicodedata

from citewell.core.text import squeeze

LONGEST = 300
"""Maximum characters of a reason."""

_LONGEST_DETAIL = 120  # characters of what a library says
_LONGEST_WORD = 30  # characters; what is longer is cut within
_READ = 4  # times as many characters are read, since many may be left out
_UNSEEN = frozenset({"Cf", "Cs"})  # format characters, and halves of others
_SPACES = frozenset({"Cc", "Zl", "Zp", "Zs"})


def one_reason(text: str, longest: int = LONGEST) -> str:
    """Return a reason on one line of at most `longest` characters; an ellipsis ends one that was cut.

    White space and control characters become single spaces. Characters that cannot be seen are left out, such
    as overrides of direction, by which a text can be read as another one (UTS 39 §5.4).
    """
    begun = text[: longest * _READ]
    shown = squeeze("".join(map(_shown, begun)))
    if len(shown) <= longest and len(begun) == len(text):
        return shown
    kept = shown[: longest - 1]
    words, _, word = kept.rpartition(" ")
    return (kept if len(word) > _LONGEST_WORD else words).rstrip(" ,;:") + "…"


def named_error(error: BaseException) -> str:
    """Return the type of a library's exception and the beginning of what it says, as a part of a reason."""
    return one_reason(f"{type(error).__name__}: {error}".rstrip(": "), _LONGEST_DETAIL)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    category = unicodedata.category(character)
    if category in _SPACES:
        return " "
    return "" if category in _UNSEEN else character
