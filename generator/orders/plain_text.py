"""Text without the disguises that hide an order from a filter, but not from a language model."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from typing import NamedTuple

# Soft hyphens, zero-width characters, marks of direction, variation selectors.
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]")  # https://unicode.org/charts/PDF/UE0000.pdf
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсухԁһԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοινρ", "ABESIJKMHOPCTXYaesijopcyxdhqwlABEZHIKMNOPTYXaoivp"
)
_DIGITS = str.maketrans("013457@$", "oieastas")
_WORD = re.compile(r"\w+")
_LATIN, _GREEK_OR_CYRILLIC = re.compile("[a-zA-Z]"), re.compile("[\u0370-\u04ff]")
_LEET = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*[013457])[a-zA-Z013457@$]{3,}\b")
# Six letters or more, each alone: "I g n o r e", "i-g-n-o-r-e", "i.g.n.o.r.e".
_SPACED = re.compile(r"(?<!\w)[^\W\d_](?:[ .\-_*]{1,3}[^\W\d_]){4,}(?!\w)")
_GAP = re.compile(r"[ ]{2,}|[ .\-_*]")
_HYPHENED = re.compile(r"(?<=[a-z])[-.](?=[a-z]{2})")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_HEX = re.compile(r"(?:\b[0-9a-fA-F]{2}\b\s*){4,}|\b(?:[0-9a-fA-F]{2}){8,}\b")
_WORDS = re.compile(r"[a-z]+")
_LONG = re.compile(r"[a-z]{18,}")
_FREQUENT = frozenset(
    "the and you all your this that with not for are from answer ignore previous instructions".split()  # noqa: SIM905
)
_JOINED = re.compile(
    r"ignore|disregard|forget|previous|instructions?|answer|reply|respond|write|print|output|prompt|rules|"
    r"everything|question|above|system|your|and|all|the|say"
)


class UndisguisedText(NamedTuple):
    """A text without disguises, and whether it had one."""

    text: str
    disguised: bool


def plain(text: str) -> UndisguisedText:
    """Return the text as a language model would understand it, and whether it hid something.

    Invisible characters are dropped, look-alikes and digits in place of letters become Latin letters, letters
    that stand alone become words, and what decodes to text is added.
    """
    tags = "".join(chr(ord(character) - 0xE0000) for character in _TAGS.findall(text))
    found = unicodedata.normalize("NFKC", _UNSEEN.sub("", _TAGS.sub("", text)))
    hidden = [tags, *_decoded(found)]
    straight = _WORD.sub(_latin, found) if _GREEK_OR_CYRILLIC.search(found) else found
    straight = _SPACED.sub(_closed, straight)
    if len(_LEET.findall(straight)) > 1:
        straight = _LEET.sub(lambda word: word[0].translate(_DIGITS), straight)
    whole = _HYPHENED.sub("", straight)
    if _frequent(whole) > _frequent(straight):
        hidden.append(whole)
    hidden += [" ".join(parts) for word in _LONG.findall(straight) if len(parts := _JOINED.findall(word)) > 2]
    hidden = [piece for piece in hidden if piece]
    return UndisguisedText(" ".join([straight, *hidden]), bool(hidden) or straight != found)


def _latin(word: re.Match[str]) -> str:
    """Return a word that mixes Latin letters with others that look like them in Latin letters."""
    is_mixed = _LATIN.search(word[0]) and _GREEK_OR_CYRILLIC.search(word[0])
    return word[0].translate(_ALIKE) if is_mixed else word[0]


def _closed(spaced: re.Match[str]) -> str:
    """Join the letters of words that stand alone; two spaces, or a space among dashes, part words."""
    text = spaced[0]
    words = re.split(r" {2,}" if "  " in text else r" " if re.search(r"[.\-_*]", text) else r"$^", text)
    return " ".join(_GAP.sub("", word) for word in words)


def _decoded(text: str) -> list[str]:
    """Return what is written in Base64, in hexadecimal numbers, in ROT13 or backwards in a text."""
    found = []
    for run in _BASE64.findall(text):
        try:
            found.append(base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode())
        except (binascii.Error, UnicodeDecodeError):
            continue
    for run in _HEX.findall(text):
        try:
            found.append(bytes.fromhex(run).decode())
        except ValueError:
            continue
    here = _frequent(text)
    found += [other for other in (codecs.decode(text, "rot13"), text[::-1]) if _frequent(other) > here + 1]
    return [piece for piece in found if piece.isprintable()]


def _frequent(text: str) -> int:
    return len(_FREQUENT.intersection(_WORDS.findall(text.lower())))
