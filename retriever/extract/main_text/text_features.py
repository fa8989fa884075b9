"""The features of the text of each piece of a page: its length, characters, words and element."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout

_TAGS = (  # noqa: SIM905
    "body div p li td th h1 h2 h3 h4 h5 h6 blockquote pre dd dt figcaption section article label summary "
    "address aside header footer nav form main"
).split()
TAG = {tag: index for index, tag in enumerate(_TAGS)}
"""The rows of `TextFeatures.tags`; all other elements share one more row, the last."""
_MAX_CHARS = 400  # of a piece whose words are features
_WORD = re.compile(r"[^\W\d_]+|[©$€£|»›·]")
_SYMBOLS = "$|"  # the ASCII symbols of _WORD
# The same for ASCII text, faster: letters become lower case, and everything outside words a space. Texts are
# separated by zeros.
_ASCII = bytes(
    ord(sign.lower()) if sign.isalpha() or sign in f"{_SYMBOLS}\0" else ord(" ")
    for sign in map(chr, range(128))
).ljust(256)


class TextColumns(NamedTuple):
    """The features of `n` pieces of text, each (n,). Shares and counts are per character or per word."""

    log_chars: NDArray[Any]
    log_words: NDArray[Any]
    word_length: NDArray[Any]
    link_share: NDArray[Any]
    log_links: NDArray[Any]
    button_share: NDArray[Any]
    bold: NDArray[Any]
    log_inline_elements: NDArray[Any]
    commas: NDArray[Any]
    sentence_ends: NDArray[Any]
    digits: NDArray[Any]
    capitals: NDArray[Any]
    ends_in_stop: NDArray[Any]
    ends_in_colon: NDArray[Any]
    ends_in_dots: NDArray[Any]
    is_question: NDArray[Any]
    word_weight: NDArray[Any]
    lowest_word_weight: NDArray[Any]
    highest_word_weight: NDArray[Any]
    mean_word_weight: NDArray[Any]
    title_similarity: NDArray[Any]
    has_price: NDArray[Any]


class TextFeatures(NamedTuple):
    """Measures of `n` pieces of text, each (n,) except `tags`.

    `tags` is one-hot, (30, n), with a one in the row of the piece's element. `heading` is the level of a
    heading, 0 for other text.
    """

    columns: TextColumns
    tags: NDArray[np.float32]
    heading: NDArray[np.int64]
    chars: NDArray[np.float64]
    link_chars: NDArray[np.float64]
    words: NDArray[np.float32]


def text_words(texts: Sequence[str]) -> list[list[str]]:
    """Return the lower-case words and symbols (such as © or $) of each text; none for a long text."""
    found: list[list[str]] = []
    plain: list[str] = []
    plain_numbers: list[int] = []
    for text in texts:
        if len(text) >= _MAX_CHARS:
            found.append([])
        elif text.isascii() and "\0" not in text:
            plain_numbers.append(len(found))
            plain.append(text)
            found.append([])
        else:
            found.append(_WORD.findall(text.lower()))
    joined = "\0".join(plain)
    for symbol in _SYMBOLS:
        joined = joined.replace(symbol, f" {symbol} ")
    for number, text in zip(
        plain_numbers, joined.encode().translate(_ASCII).decode().split("\0"), strict=False
    ):
        found[number] = text.split()
    return found


def measure_text(layout: PageLayout, weights: Mapping[str, float], title: str) -> TextFeatures:
    """Measure the text of each piece. `weights` are log odds of words, `title` is the page's `<title>`."""
    texts = layout.texts
    signs = _count_signs(texts)
    chars, words = signs.chars, signs.spaces + 1
    links, link_chars, button_chars, bold, inlines = (
        np.fromiter(chain.from_iterable(layout.counts), dtype=np.float64, count=5 * len(texts))
        .reshape(-1, 5)
        .T
    )
    link_chars = np.minimum(link_chars, chars)
    title_words = frozenset(_WORD.findall(title.lower()))
    word_weight, lowest, highest, mean, similarity = _word_signs(text_words(texts), weights, title_words)
    columns = TextColumns(
        np.log1p(chars),
        np.log1p(words),
        np.minimum(20, chars / words),
        link_chars / chars,
        np.log1p(links),
        np.minimum(1, button_chars / chars),
        np.minimum(3, bold),
        np.log1p(inlines),
        signs.commas / words,
        signs.stops / words,
        signs.digits / chars,
        signs.capitals / chars,
        signs.ends_in_stop,
        signs.ends_in_colon,
        signs.ends_in_dots,
        signs.asks,
        word_weight,
        lowest,
        highest,
        mean,
        similarity,
        signs.prices & (chars < _MAX_CHARS),
    )
    numbers = map(TAG.get, map(layout.tags.__getitem__, layout.owners), repeat(len(_TAGS)))
    tag = np.array(list(numbers))
    tags = np.zeros((len(_TAGS) + 1, len(tag)), dtype=np.float32)
    tags[tag, np.arange(len(tag))] = 1
    heading = np.where((tag >= TAG["h1"]) & (tag <= TAG["h6"]), tag - TAG["h1"] + 1, 0)
    return TextFeatures(columns, tags, heading, chars, link_chars, words.astype(np.float32))


class _Signs(NamedTuple):
    """Counts of characters in each of `n` texts, and the ends of the texts; all (n,)."""

    chars: NDArray[np.float64]
    spaces: NDArray[np.float64]
    commas: NDArray[np.float64]
    stops: NDArray[np.float64]
    digits: NDArray[np.float64]
    capitals: NDArray[np.float64]
    ends_in_stop: NDArray[np.bool_]
    ends_in_colon: NDArray[np.bool_]
    ends_in_dots: NDArray[np.bool_]
    asks: NDArray[np.bool_]
    prices: NDArray[np.bool_]


def _count_signs(texts: Sequence[str]) -> _Signs:
    """Count in all texts at once, in one array of code points with a zero after each text."""
    joined = "\0".join([*texts, ""])
    # UTF-16 is half as large and nearly always enough: no character beyond the basic plane.
    encoded = joined.encode("utf-16-le", errors="replace")
    wide = len(encoded) > 2 * len(joined)
    if wide:
        encoded = joined.encode("utf-32-le", errors="replace")
    codes: NDArray[np.uint16 | np.uint32] = np.frombuffer(encoded, dtype=np.uint32 if wide else np.uint16)
    ends = np.cumsum(np.array(list(map(len, texts))) + 1) - 1  # the positions of the zeros
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1

    def any_of(characters: str) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = codes == ord(characters[0])
        for character in characters[1:]:
            found |= codes == ord(character)
        return found

    def count(marks: NDArray[np.bool_]) -> NDArray[np.float64]:
        counts: NDArray[np.float64] = np.add.reduceat(marks, starts, dtype=np.float64)
        return counts

    stop, wide_stop = any_of(".?!"), any_of("。！？।؟")
    before_gap = np.zeros(len(codes), dtype=bool)
    np.logical_or(codes[1:] == 0, codes[1:] == ord(" "), out=before_gap[:-1])
    last = ends - 1
    final, before = codes[last], codes[last - 1]
    return _Signs(
        (ends - starts).astype(np.float64),
        count(any_of(" \n")),
        count(any_of(",、，")),
        count(wide_stop | (stop & before_gap)),
        count((codes >= ord("0")) & (codes <= ord("9"))),
        count((codes >= ord("A")) & (codes <= ord("Z"))),
        (stop | wide_stop)[last] | (final == ord('"')) | (final == ord("”")),
        (final == ord(":")) | (final == ord("：")),
        (final == ord("…")) | ((final == ord(".")) & (before == ord("."))),
        count(any_of("?？؟")) > 0,
        count(any_of("$€£")) > 0,
    )


def _word_signs(
    words: Sequence[Sequence[str]], weights: Mapping[str, float], title: frozenset[str]
) -> NDArray[np.float64]:
    """Compute features of the words of each of `n` texts: (5, n), zeros for a text without words.

    The rows are the sum of the weights over the square root of their number, the lowest, the highest, the
    mean, and the Jaccard similarity with the title of the page.
    """
    count = len(words)
    found = np.array(list(map(weights.get, chain.from_iterable(words), repeat(np.nan))))
    known = ~np.isnan(found)
    owners = np.repeat(np.arange(count), list(map(len, words)))[known]
    found = found[known]
    signs = np.zeros((5, count))
    if len(found):
        numbers = np.bincount(owners, minlength=count)
        sums = np.bincount(owners, weights=found, minlength=count)
        at_least_one = np.maximum(1, numbers)
        starts = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
        signs[0], signs[3] = sums / np.sqrt(at_least_one), sums / at_least_one
        signs[1, owners[starts]] = np.minimum.reduceat(found, starts)
        signs[2, owners[starts]] = np.maximum.reduceat(found, starts)
    disjoint = map(title.isdisjoint, words)
    for index in [index for index, none in enumerate(disjoint) if not none]:
        distinct = set(words[index])
        shared = len(distinct & title)
        signs[4, index] = shared / (len(distinct) + len(title) - shared)
    return signs
