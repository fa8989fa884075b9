"""The characters that the browser writes with, kept out of all text that comes from outside.

Links are marked by them (`【id†text†domain】`), sections of the state begin with ♦, questions and quotes end
with ■, and ━ shortens a quote (WebGPT, appendix A, https://arxiv.org/abs/2112.09332). Where a page has one
of them, something that looks alike stands in its place, so that no page can write a mark or a section.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from citewell.core.text import squeeze

if TYPE_CHECKING:
    from citewell.browser.page import Link

SPECIAL = "【】†♦■━"
_ALIKE = {
    "【": "〖",
    "】": "〗",
    "†": "‡",
    "♦": "◆",
    "■": "▪",
    "━": "—",
    # These three become special ones in NFKC, by which some tokenizers read their text.
    "︻": "〖",
    "︼": "〗",
    "￭": "▪",
}
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_BREAKS = "\r\v\f\x1c-\x1e\x85\u2028\u2029"
_CONTROLS = "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"
# Soft hyphens, zero-width spaces, marks that turn the direction of text round, and tags: nobody sees them,
# and a model reads them.
_UNSEEN = "\u00ad\u200b\u2060\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"
_FOREIGN = re.compile(
    rf"\r\n|[{''.join(_ALIKE)}]|[{_SPACES}]|[{_BREAKS}]|[{_CONTROLS}{_UNSEEN}]|[{_SURROGATES}]"
)
_SPACE, _BREAK, _SURROGATE = (re.compile(f"[{those}]") for those in (_SPACES, _BREAKS, _SURROGATES))

MARK = re.compile(r"【(\d+)†([^【】†]*)(?:†([^【】†]*))?】")
"""A mark of a link in page text: its groups are the id, the text and, on another site, the domain."""


def inert(text: str) -> str:
    """`text` from outside with look-alikes for the special characters, as page text may hold it.

    Every kind of line break is a `\\n` and every kind of space a plain one; characters that control something
    or cannot be seen are left out, lone surrogates are replaced, and the rest is composed (NFC).
    """
    return unicodedata.normalize("NFC", _FOREIGN.sub(_replaced, text))


def inert_line(text: str) -> str:
    """`inert`, on one line: titles, queries and the texts of links."""
    return squeeze(inert(text))


def mark(number: int, link: Link, domain: str) -> str:
    """How a link stands in the text of a page of `domain`, left out where the link stays on it."""
    where = "" if link.domain == domain else f"†{link.domain}"
    return f"【{number}†{link.text}{where}】"


def stripped(text: str) -> str:
    """Page text with the texts of its links in place of their marks."""
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
