"""The characters that the text browser marks its state with, and their removal from outside text.

They mark links (`【id†text†domain】`), begin sections of the state (♦), end questions and quotes (■), and
shorten quotes (━) (WebGPT, appendix A, https://arxiv.org/abs/2112.09332). In the text of pages they are
replaced by look-alikes, so that no page can forge a mark or a section.
"""

from __future__ import annotations

import re
import unicodedata

from citewell.core.text import squeeze

SPECIAL = "【】†♦■━"
_ALIKE = {
    "【": "〖",
    "】": "〗",
    "†": "‡",
    "♦": "◆",
    "■": "▪",
    "━": "—",
    # NFKC, which some tokenizers apply, turns these three into special characters.
    "︻": "〖",
    "︼": "〗",
    "￭": "▪",
}
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_BREAKS = "\r\v\f\x1c-\x1e\x85\u2028\u2029"
_CONTROLS = "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"
# Soft hyphens, zero-width spaces, direction marks and tags: invisible to people but not to models.
_UNSEEN = "\u00ad\u200b\u2060\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"
_FOREIGN = re.compile(
    rf"\r\n|[{''.join(_ALIKE)}]|[{_SPACES}]|[{_BREAKS}]|[{_CONTROLS}{_UNSEEN}]|[{_SURROGATES}]"
)
_SPACE, _BREAK, _SURROGATE = (re.compile(f"[{those}]") for those in (_SPACES, _BREAKS, _SURROGATES))

MARK = re.compile(r"【(\d+)†([^【】†]*)(?:†([^【】†]*))?】")
"""A mark of a link in page text: its groups are the id, the text and, on another site, the domain."""


def inert(text: str) -> str:
    """Return `text` from outside with special characters replaced by look-alikes.

    Line breaks become `\\n`, all spaces become plain spaces, control and invisible characters are dropped,
    lone surrogates are replaced, and the rest is normalized to NFC.
    """
    return unicodedata.normalize("NFC", _FOREIGN.sub(_replaced, text))


def inert_line(text: str) -> str:
    """Return `inert` text on one line, for titles, queries and the texts of links."""
    return squeeze(inert(text))


def mark(number: int, text: str, domain: str = "") -> str:
    """Return the mark of a link; `domain` is the domain of another site that the link leads to."""
    return f"【{number}†{text}{f'†{domain}' if domain else ''}】"


def stripped(text: str) -> str:
    """Return page text with each mark of a link replaced by the link's text."""
    return MARK.sub(r"\2", text)


def _replaced(found: re.Match[str]) -> str:
    character = found[0]
    if alike := _ALIKE.get(character):
        return alike
    if _SPACE.match(character):
        return " "
    if _BREAK.match(character):
        return "\n"
    return "\ufffd" if _SURROGATE.match(character) else ""
