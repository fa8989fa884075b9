"""What the classifier sees of each piece of a page: its text, its place, its containers, its neighbours."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.extract.main_text.text_features import TAG, measure_text

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout
    from citewell.retriever.extract.main_text.signs import Signs

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

CONTAINERS = 5  # levels of containers that are looked at, the piece's own frame first
_PROSE = 80  # characters from which a piece without many links counts as prose
_FAR = 50  # pieces: no distance counts as more
_AROUND = (  # noqa: SIM905
    "article main nav header footer aside form li table dl figure section blockquote pre noscript details "
    "dialog fieldset ul ol hidden"
).split()
_BIT = {tag: 1 << index for index, tag in enumerate(_AROUND)}
_BITS = np.array([list(_BIT.values())]).T  # (24, 1)
# Of what is seen of a piece, the rows that are also seen of its neighbours: of its text, of its place, of
# what is around it, and of its element.
_TAGS_FROM = 22
_PLACE_FROM = _TAGS_FROM + len(TAG) + 1 + 8 * CONTAINERS
_AROUND_FROM = _PLACE_FROM + 24
_NEAR = (
    *(0, 3, 9, 15, 16),
    *(_PLACE_FROM + row for row in (0, 4, 7)),
    *(_AROUND_FROM + row for row in (2, 4, 5)),
    *(_TAGS_FROM + TAG[tag] for tag in ("p", "li")),
)
_ROLES = {
    "main": "main",
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "dialog": "dialog",
    "article": "article",
    "search": "form",
}
_NAME = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, eq=False)
class WordWeights:
    """How much a word speaks for main text (above 0) or against it, as log odds."""

    names: Mapping[str, float]
    """For words in the class, id or role of a frame."""
    words: Mapping[str, float]
    """For words of a short text."""


class Features(NamedTuple):
    """The input of the classifier for a page of `n` pieces in `f` frames.

    `values` is (n, d), and lies in memory column by column. `containers` is (5, n): the frames around each
    piece, each with more text than the one before; frame `i` holds the pieces `first[i]` to `last[i] - 1`.
    `kinds` is (n,): pieces whose frames look alike have the same number. `sizes` is (n,), the square root of
    a piece's number of words.
    """

    values: Floats
    containers: Indices
    first: Indices
    last: Indices
    kinds: Indices
    sizes: Floats


def name_words(names: str) -> frozenset[str]:
    """The words in the attributes of a frame: `post-body mainText` has post, body, main and text."""
    return frozenset(word.lower() for word in _NAME.split(names) if 2 < len(word) < 20)


def featurize(layout: PageLayout, signs: Signs, weights: WordWeights) -> Features:
    """Measure every piece of a page that has at least one."""
    frames = _frame_table(layout, weights)
    first, last, own = np.array(layout.first), np.array(layout.last), np.array(layout.owners)
    text = measure_text(layout, weights.words, signs.title)
    chars, links = text.chars, text.link_chars
    count = len(own)
    index = np.arange(count)
    prose = np.where((chars >= _PROSE) & (links < 0.35 * chars), chars, 0.0)

    # Sums over any run of pieces are differences of running sums.
    c, k, r = _running(chars), _running(links), _running(prose)
    total, prose_total = max(1.0, c[-1]), max(1.0, r[-1])
    in_chars, in_links, in_prose = c[last] - c[first], k[last] - k[first], r[last] - r[first]
    in_pieces = (last - first).astype(np.float64)
    children = np.bincount(frames.parent[1:], minlength=len(first))
    some_chars = np.maximum(1, in_chars)
    container = np.stack(
        [
            np.log1p(in_chars),
            in_links / some_chars,
            np.log1p(in_pieces),
            in_prose / prose_total,
            in_prose / some_chars,
            np.log1p(in_chars / np.maximum(1, in_pieces)),
            np.log1p(children),
            frames.score,
        ]
    )
    containers = _climb(own, frames.parent, in_pieces, max(layout.depths).bit_length())

    most = np.flatnonzero(in_prose >= 0.6 * prose_total)
    main = most[np.argmax(frames.depth[most])] if len(most) else 0
    looks = frames.looks[own].tolist()
    kind_of = {look: kind for kind, look in enumerate(dict.fromkeys(looks))}
    kinds = np.array([kind_of[look] for look in looks])
    of_kind = np.bincount(kinds)
    kind_chars = np.bincount(kinds, weights=chars)
    kind_links = np.bincount(kinds, weights=links)
    own_kind, own_kind_chars = of_kind[kinds], kind_chars[kinds]
    heading = text.heading
    since_heading = _since(heading > 0)
    until_heading = np.minimum(count - index, _since(heading[::-1] > 0)[::-1])
    titles = np.flatnonzero(heading == 1)
    since_title = (index - titles[0]) / count if len(titles) else np.full(count, -2.0)
    depth, score = frames.depth[own], frames.score[own]
    place = [
        heading,
        depth,
        depth - frames.depth[main],
        (index >= first[main]) & (index < last[main]),
        score,
        frames.lowest[own],
        frames.highest[own],
        frames.sum[own],
        index / count,
        np.minimum(_FAR, count - index),
        c[:-1] / total,
        r[:-1] / prose_total,
        np.minimum(_FAR, _since(prose > 0)),
        np.minimum(_FAR, _since(prose[::-1] > 0)[::-1]),
        since_title,
        since_title > 0,
        np.minimum(_FAR, since_heading),
        np.where(since_heading <= index, heading[np.maximum(0, index - since_heading)], 0),
        np.log1p(c[index + until_heading] - c[:-1]),
        np.log1p(own_kind),
        np.log1p(own_kind_chars),
        kind_links[kinds] / np.maximum(1, own_kind_chars),
        np.log1p(own_kind_chars / own_kind),
        own_kind_chars / total,
    ]
    around = (frames.around[own] & _BITS) > 0
    prose_count = np.count_nonzero(prose)
    page = [
        math.log1p(total),
        math.log1p(count),
        k[-1] / total,
        prose_total / total,
        prose_count / count,
        math.log1p(prose_total / max(1, prose_count)),
        math.log1p(len(titles)),
        math.log1p(of_kind.max()),
        math.log1p(kind_chars.max()),
        around[0].any(),
        around[1].any(),
        math.log1p(layout.tags.count("article")),
        *signs.values,
    ]
    rows = [
        *text.rows,
        text.tags.ravel(),
        *(container.take(frame, axis=1).ravel() for frame in containers),
        *place,
        around.ravel(),
        np.repeat(page, count),
    ]
    seen = np.concatenate(rows, dtype=np.float32).reshape(-1, count)
    near = seen.take(_NEAR, axis=0)
    values = np.zeros((len(seen) + 4 * len(near), count), dtype=np.float32)
    values[: len(seen)] = seen
    # Of neighbours before and after; zeros beyond the ends.
    before, before_that, after, after_that = values[len(seen) :].reshape(4, len(near), count)
    before[:, 1:], before_that[:, 2:] = near[:, :-1], near[:, :-2]
    after[:, :-1], after_that[:, :-2] = near[:, 1:], near[:, 2:]
    return Features(values.T, containers, first, last, kinds, np.sqrt(text.words))


class _Frames(NamedTuple):
    parent: Indices
    depth: Indices
    score: NDArray[np.float64]  # what its names say
    lowest: NDArray[np.float64]  # of these scores, of it and the frames around it
    highest: NDArray[np.float64]
    sum: NDArray[np.float64]
    around: Indices  # a bit for each of _AROUND
    looks: Indices  # the same number for frames that look alike


def _frame_table(layout: PageLayout, weights: WordWeights) -> _Frames:
    tag_numbers, tag = _numbered(layout.tags)
    name_numbers, name = _numbered(layout.names)
    score = np.array([_name_score(text, weights) for text in name_numbers])[name]
    bits = np.array([_BIT.get(text, 0) for text in tag_numbers])[tag]
    bits[layout.hidden] |= _BIT["hidden"]
    for index, role in layout.roles.items():
        if role in _ROLES:
            bits[index] |= _BIT[_ROLES[role]]
    parent, depth = np.array(layout.parents), np.array(layout.depths)
    # Combined with what is around: each round looks twice as far up. The outermost frame is its own parent.
    up = np.maximum(parent, 0)
    lowest, highest, around = np.minimum(score, 0), np.maximum(score, 0), bits
    total, above = score, np.where(parent < 0, 0.0, 1.0)
    named = name[up] + 1
    named[parent < 0] = 0
    looks = (tag * (len(name_numbers) + 1) + named) * len(name_numbers) + name
    for _ in range(max(layout.depths).bit_length()):
        lowest, highest = np.minimum(lowest, lowest[up]), np.maximum(highest, highest[up])
        around, total, above = around | around[up], total + above * total[up], above * above[up]
        up = up[up]
    return _Frames(parent, depth, score, lowest, highest, total, around, looks)


def _numbered(texts: Sequence[str]) -> tuple[Mapping[str, int], Indices]:
    """The different texts, each with a number from 0, and the number of each text."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return numbers, np.array([numbers[text] for text in texts])


@lru_cache(maxsize=65_536)  # sites use the same few names thousands of times
def _name_score(names: str, weights: WordWeights) -> float:
    """What the names of a frame say for main text (above 0) or against it."""
    found = [weights.names[word] for word in name_words(names) if word in weights.names]
    # fsum is exact: the words are a set, and come in another order in every process.
    return math.fsum(found) / math.sqrt(len(found)) if found else 0.0


def _climb(own: Indices, parent: Indices, pieces: NDArray[np.float64], rounds: int) -> Indices:
    """The frames around each piece, each with more pieces than the one before."""
    larger = np.maximum(parent, 0)  # the nearest frame around each with more pieces, or the outermost
    for _ in range(rounds):
        larger = np.where(pieces[larger] == pieces, larger[larger], larger)
    levels = [own]
    for _ in range(CONTAINERS - 1):
        levels.append(larger[levels[-1]])
    return np.stack(levels)


def _running(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(values)])


def _since(marks: NDArray[np.bool_]) -> Indices:
    """The distance from each place back to the last mark; more than there are places where none was."""
    index = np.arange(len(marks))
    last: Indices = np.maximum.accumulate(np.where(marks, index, -2 * len(marks)))
    return index - last
