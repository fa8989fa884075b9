"""Text utilities that every part shares: sentences, words and white space, in any script."""

from __future__ import annotations

import re

# Scripts that are written without spaces between words: each character is a word of its own, so
# that overlap measures see more than one long word (rouge-score's own tokenizer sees none at all).
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_SPACE = re.compile(r"\s+")


def split_sentences(text: str) -> list[str]:
    """Split running text of any language into its sentences, without surrounding white space.

    Splitting is done by [sentencex](https://github.com/wikimedia/sentencex), which knows
    abbreviations and needs no data files. No word is lost or changed.
    """
    from sentencex import segment

    return [sentence for part in segment("en", text) if (sentence := part.strip())]


def words(text: str) -> list[str]:
    """The lower-cased words of `text`: letters and digits; one character each where a script has no spaces."""
    return _WORD.findall(text.lower())


def squeeze(text: str) -> str:
    """`text` on one line, every run of white space turned into one space."""
    return _SPACE.sub(" ", text).strip()


def shorten(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, cut at a word, with an ellipsis where something was cut."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
