"""The features of each piece of a page: its text, containers, place, surroundings and neighbors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.extract.main_text.frames import (
    SURROUNDINGS,
    FrameTable,
    Indices,
    Numbers,
    WordWeights,
    frame_table,
)
from citewell.retriever.extract.main_text.text_features import TAG, TextColumns, TextFeatures, measure_text

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout
    from citewell.retriever.extract.main_text.signs import Signs

Floats = NDArray[np.float32]
Column = NDArray[Any]

CONTAINERS = 5  # levels of containers that are features, beginning with the piece's own frame
_PROSE_CHARS = 80  # min characters of prose
_PROSE_LINKS = 0.35  # max share of them in links
_MAX_DISTANCE = 50  # pieces; larger distances count as this


class ContainerColumns(NamedTuple):
    """Measures of frames, each (f,)."""

    log_chars: Numbers
    link_share: Numbers
    log_pieces: Numbers
    share_of_all_prose: Numbers
    prose_share: Numbers
    log_chars_per_piece: Numbers
    log_children: Numbers
    name_score: Numbers


class PlaceColumns(NamedTuple):
    """Where pieces are on the page, each (n,). A `kind` is all pieces whose frames look alike."""

    heading_level: Column
    depth: Column
    depth_in_main: Column
    in_main: Column
    name_score: Column
    lowest_name_score: Column
    highest_name_score: Column
    name_score_sum: Column
    position: Column
    pieces_left: Column
    chars_before: Column
    prose_before: Column
    since_prose: Column
    until_prose: Column
    since_title: Column
    after_title: Column
    since_heading: Column
    last_heading_level: Column
    log_chars_to_heading: Column
    log_kind_pieces: Column
    log_kind_chars: Column
    kind_link_share: Column
    log_kind_chars_per_piece: Column
    kind_share: Column


class PageColumns(NamedTuple):
    """Measures of the whole page, the same for all its pieces."""

    log_chars: float
    log_pieces: float
    link_share: float
    prose_share: float
    share_of_prose_pieces: float
    log_chars_per_prose_piece: float
    log_titles: float
    log_largest_kind: float
    log_largest_kind_chars: float
    has_article: bool
    has_main: bool
    log_articles: float


COLUMNS = (
    *TextColumns._fields,
    *(f"is_{tag}" for tag in (*TAG, "other_element")),
    *(f"container_{level}_{name}" for level in range(CONTAINERS) for name in ContainerColumns._fields),
    *PlaceColumns._fields,
    *(f"in_{tag}_element" for tag in SURROUNDINGS),
    *(f"page_{name}" for name in PageColumns._fields),
)
"""The names of the columns of a piece itself. Those of `Signs.values` follow, then those of its neighbors."""
NEIGHBOR_COLUMNS = (
    *("log_chars", "link_share", "sentence_ends", "is_question", "word_weight"),
    *("heading_level", "name_score", "name_score_sum"),
    *("in_nav_element", "in_footer_element", "in_aside_element"),
    *("is_p", "is_li"),
)
"""The columns that a piece also has of each of its four neighbors."""
_NEIGHBOR_ROWS = tuple(COLUMNS.index(name) for name in NEIGHBOR_COLUMNS)


class Features(NamedTuple):
    """The input of the classifier for a page of `n` pieces in `f` frames.

    `values` is (n, d), stored column by column. `containers` is (5, n): the frames around each piece, each
    with more pieces than the one before; frame `i` holds the pieces `first[i]` to `last[i] - 1`. `kinds` is
    (n,): pieces whose frames look alike have the same number. `sizes` is (n,), the square root of the number
    of words of each piece.
    """

    values: Floats
    containers: Indices
    first: Indices
    last: Indices
    kinds: Indices
    sizes: Floats


class _Page(NamedTuple):
    """The measures of a page from which its columns are computed."""

    text: TextFeatures
    frames: FrameTable
    first: Indices  # (f,)
    last: Indices  # (f,)
    own: Indices  # (n,), the frame of each piece
    prose: Numbers  # (n,), the characters of pieces that are prose, else 0
    # Running sums, (n + 1,): the sum over any run of pieces is the difference of two of them.
    chars: Numbers
    link_chars: Numbers
    prose_chars: Numbers

    @property
    def total(self) -> float:
        return max(1.0, float(self.chars[-1]))

    @property
    def prose_total(self) -> float:
        return max(1.0, float(self.prose_chars[-1]))

    def within(self, sums: Numbers) -> Numbers:
        """Return the sum over the pieces of each frame, (f,)."""
        return sums[self.last] - sums[self.first]


class _Kinds(NamedTuple):
    """Pieces grouped by the appearance of their frames: the kind of each piece, and sums over each kind."""

    kinds: Indices  # (n,)
    pieces: Indices
    chars: Column
    link_chars: Column


def featurize(layout: PageLayout, signs: Signs, weights: WordWeights) -> Features:
    """Measure every piece of a page that has at least one."""
    page = _measure(layout, signs, weights)
    count = len(page.own)
    pieces = (page.last - page.first).astype(np.float64)
    container_columns = np.stack(_container_columns(page, pieces))
    containers = _climb(page.own, page.frames.parent, pieces, max(layout.depths).bit_length())
    kinds = _group(page)
    surroundings = page.frames.within(page.own)
    of_page = (*_page_columns(page, kinds, surroundings, layout.tags.count("article")), *signs.values)
    rows = [
        *page.text.columns,
        page.text.tags.ravel(),
        *(container_columns.take(frame, axis=1).ravel() for frame in containers),
        *_place_columns(page, kinds),
        surroundings.ravel(),
        np.repeat(of_page, count),
    ]
    own_rows = np.concatenate(rows, dtype=np.float32).reshape(-1, count)
    values = _with_neighbors(own_rows)
    return Features(values.T, containers, page.first, page.last, kinds.kinds, np.sqrt(page.text.words))


def _measure(layout: PageLayout, signs: Signs, weights: WordWeights) -> _Page:
    text = measure_text(layout, weights.words, signs.title)
    chars, links = text.chars, text.link_chars
    prose = np.where((chars >= _PROSE_CHARS) & (links < _PROSE_LINKS * chars), chars, 0.0)
    return _Page(
        text,
        frame_table(layout, weights),
        np.array(layout.first),
        np.array(layout.last),
        np.array(layout.owners),
        prose,
        _running(chars),
        _running(links),
        _running(prose),
    )


def _container_columns(page: _Page, pieces: Numbers) -> ContainerColumns:
    chars, prose = page.within(page.chars), page.within(page.prose_chars)
    at_least_one = np.maximum(1, chars)
    children = np.bincount(page.frames.parent[1:], minlength=len(page.first))
    return ContainerColumns(
        np.log1p(chars),
        page.within(page.link_chars) / at_least_one,
        np.log1p(pieces),
        prose / page.prose_total,
        prose / at_least_one,
        np.log1p(chars / np.maximum(1, pieces)),
        np.log1p(children),
        page.frames.score,
    )


def _climb(own: Indices, parent: Indices, pieces: Numbers, rounds: int) -> Indices:
    """Return the frames around each piece, each with more pieces than the one before: (5, n)."""
    larger = np.maximum(parent, 0)  # the nearest frame around each with more pieces, or the outermost
    for _ in range(rounds):
        larger = np.where(pieces[larger] == pieces, larger[larger], larger)
    levels = [own]
    for _ in range(CONTAINERS - 1):
        levels.append(larger[levels[-1]])
    return np.stack(levels)


def _group(page: _Page) -> _Kinds:
    looks = page.frames.looks[page.own].tolist()
    kind_of = {look: kind for kind, look in enumerate(dict.fromkeys(looks))}
    kinds = np.array([kind_of[look] for look in looks])
    return _Kinds(
        kinds,
        np.bincount(kinds),
        np.bincount(kinds, weights=page.text.chars),
        np.bincount(kinds, weights=page.text.link_chars),
    )


def _main_frame(page: _Page) -> int:
    """Return the deepest frame with at least 60% of the prose; the outermost if no frame has that much."""
    candidates = np.flatnonzero(page.within(page.prose_chars) >= 0.6 * page.prose_total)
    return int(candidates[np.argmax(page.frames.depth[candidates])]) if len(candidates) else 0


def _place_columns(page: _Page, kinds: _Kinds) -> PlaceColumns:
    frames, own, heading = page.frames, page.own, page.text.heading
    count = len(own)
    index = np.arange(count)
    main = _main_frame(page)
    since_heading = _since(heading > 0)
    until_heading = np.minimum(count - index, _since(heading[::-1] > 0)[::-1])
    titles = np.flatnonzero(heading == 1)
    since_title = (index - titles[0]) / count if len(titles) else np.full(count, -2.0)
    kind_pieces, kind_chars = kinds.pieces[kinds.kinds], kinds.chars[kinds.kinds]
    return PlaceColumns(
        heading,
        frames.depth[own],
        frames.depth[own] - frames.depth[main],
        (index >= page.first[main]) & (index < page.last[main]),
        frames.score[own],
        frames.lowest_score[own],
        frames.highest_score[own],
        frames.score_sum[own],
        index / count,
        np.minimum(_MAX_DISTANCE, count - index),
        page.chars[:-1] / page.total,
        page.prose_chars[:-1] / page.prose_total,
        np.minimum(_MAX_DISTANCE, _since(page.prose > 0)),
        np.minimum(_MAX_DISTANCE, _since(page.prose[::-1] > 0)[::-1]),
        since_title,
        since_title > 0,
        np.minimum(_MAX_DISTANCE, since_heading),
        np.where(since_heading <= index, heading[np.maximum(0, index - since_heading)], 0),
        np.log1p(page.chars[index + until_heading] - page.chars[:-1]),
        np.log1p(kind_pieces),
        np.log1p(kind_chars),
        kinds.link_chars[kinds.kinds] / np.maximum(1, kind_chars),
        np.log1p(kind_chars / kind_pieces),
        kind_chars / page.total,
    )


def _page_columns(page: _Page, kinds: _Kinds, surroundings: NDArray[np.bool_], articles: int) -> PageColumns:
    count = len(page.own)
    prose_pieces = int(np.count_nonzero(page.prose))
    return PageColumns(
        math.log1p(page.total),
        math.log1p(count),
        page.link_chars[-1] / page.total,
        page.prose_total / page.total,
        prose_pieces / count,
        math.log1p(page.prose_total / max(1, prose_pieces)),
        math.log1p(np.count_nonzero(page.text.heading == 1)),
        math.log1p(kinds.pieces.max()),
        math.log1p(kinds.chars.max()),
        surroundings[SURROUNDINGS.index("article")].any(),
        surroundings[SURROUNDINGS.index("main")].any(),
        math.log1p(articles),
    )


def _with_neighbors(own_rows: Floats) -> Floats:
    """Return the rows of each piece, then some rows of its neighbors; zeros beyond the ends of the page."""
    count = own_rows.shape[1]
    near = own_rows.take(_NEIGHBOR_ROWS, axis=0)
    values = np.zeros((len(own_rows) + 4 * len(near), count), dtype=np.float32)
    values[: len(own_rows)] = own_rows
    before, two_before, after, two_after = values[len(own_rows) :].reshape(4, len(near), count)
    before[:, 1:], two_before[:, 2:] = near[:, :-1], near[:, :-2]
    after[:, :-1], two_after[:, :-2] = near[:, 1:], near[:, 2:]
    return values


def _running(values: Column) -> Numbers:
    return np.concatenate([[0.0], np.cumsum(values)])


def _since(marks: NDArray[np.bool_]) -> Indices:
    """Return the distance from each index back to the last mark; more than `len(marks)` without one."""
    index = np.arange(len(marks))
    last: Indices = np.maximum.accumulate(np.where(marks, index, -2 * len(marks)))
    return index - last
