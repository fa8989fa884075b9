"""Text utilities: sentences, words and white space, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import islice

# Scripts written without spaces between words. Each character counts as a word, so that overlap metrics
# do not see one long word (rouge-score's own tokenizer sees no word at all).
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED_WORD = re.compile(f"([{_UNSPACED}])")
# Vowel signs and accents, which belong to the letter before them but are not letters to `re`.
_SIGNS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:[{_SIGNS}]+[^\W_{_UNSPACED}]*)*")
# The same for ASCII text, faster: letters become lower case, and everything outside words a space.
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
# English function words.
STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it "  # noqa: SIM905
    "its may me might must my no not of on or our shall she he should so some such than that the their "
    "them then there these they this those to was we were what when where which who whom whose why will "
    "with would you your".split()
)
_LONE_STOP = re.compile(r"\s\.$")
_BEFORE_NAME = re.compile(r"\b(?:Capt|Col|Dr|Ft|Gen|Gov|Hon|Lt|Mr|Mrs|Ms|Mt|Prof|Rev|Sen|Sgt|Vol)\.[^\S\n]*$")
_SPACE = re.compile(r"\s+")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")


def encodable(text: str) -> str:
    """Return the text with `?` for lone surrogates, which JSON may hold but UTF-8 cannot."""
    return text.encode(errors="replace").decode()


def uncontrolled(text: str) -> str:
    """Return the text without control characters, which terminals obey, but line breaks and tabs."""
    return _CONTROLS.sub("", text)


def split_sentences(text: str) -> list[str]:
    """Split running text of any language into its sentences, without surrounding white space.

    [sentencex](https://github.com/wikimedia/sentencex) does the splitting: it knows abbreviations and needs
    no data files. No word is lost or changed.
    """
    from sentencex import segment

    parts: list[str] = []
    for part in segment("en", text):
        # sentencex also splits `Ms. Hill`, and inside `The .NET runtime`, after the period of a word.
        of_word = parts and _LONE_STOP.search(parts[-1]) and not part[0].isspace()
        if of_word or (parts and _BEFORE_NAME.search(parts[-1])):
            parts[-1] += part
        else:
            parts.append(part)
    return [sentence for part in parts if (sentence := part.strip())]


def without_sentences(text: str, left_out: Collection[str]) -> str:
    """Return the text without sentences that `split_sentences` finds in its lines."""
    if not left_out:
        return text
    lines = ([s for s in split_sentences(line) if s not in left_out] for line in text.splitlines())
    return "\n".join(" ".join(line) for line in lines if line)


def words(text: str) -> list[str]:
    """Return the lower-case words of `text`, in NFC; in scripts without spaces, each character is a word."""
    if text.isascii():
        return text.translate(_ASCII).split()
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def first_words(text: str, limit: int) -> str:
    """`text` (in NFC) up to and including its `limit`-th word, as `words` counts them."""
    if limit < 1:
        return ""
    text = unicodedata.normalize("NFC", text)
    last = next(islice(_WORD.finditer(text), limit - 1, None), None)
    return text if last is None else text[: last.end()]


def content_words(text: str) -> list[str]:
    """Return the words of `text` without stop words; all of its words if nothing else is left."""
    found = words(text)
    return [word for word in found if word not in STOP_WORDS] or found


def space_out(text: str) -> str:
    """`text` with spaces around each character of scripts written without spaces."""
    return _UNSPACED_WORD.sub(r" \1 ", text)


def squeeze(text: str) -> str:
    """`text` on one line, every run of white space replaced by one space."""
    return _SPACE.sub(" ", text).strip()


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, cut between words, ending in an ellipsis if cut."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def encoded_text(title: str, text: str) -> str:
    """Return the text by which a passage is encoded: half of all paragraphs do not name what they are about.

    Indexes and queries must agree on it.
    """
    return f"{title}. {text}" if title else text
