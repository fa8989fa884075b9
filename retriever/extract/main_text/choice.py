"""Choice of the pieces to keep, from the probability that each is main text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.extract.main_text.repeats import comments_under_article, hidden_repeats
from citewell.retriever.extract.main_text.surroundings import outside_main_text

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.features import Floats
    from citewell.retriever.extract.main_text.layout import PageLayout
    from citewell.retriever.extract.main_text.signs import Kind

_MAX_ROW = 400  # characters; a longer row sets out a page
_FAIR_HEADING = 0.15  # the probability from which a heading is kept with the text below it
_SURE = 0.7  # the probability from which a piece shows where the main text is
_PROSE = 60  # characters of such a piece
_LEVELS = {f"h{level}": level for level in range(10)}  # as authors write them
_MAX_OF_IT = 0.8  # the share of these that its container holds


class _Bar(NamedTuple):
    """The threshold of probability for pieces on one kind of page.

    The threshold is `share` times the expected F1 of the page, and at least `least`. Outside the container
    of the main text, probabilities are multiplied by `elsewhere`.
    """

    share: float
    least: float
    elsewhere: float = 1.0


# Half the F1 is best where pieces are independent. They are not: the text beside an article is wrong
# together, and the posts of a forum are right together.
_BARS: dict[Kind, _Bar] = {
    "article": _Bar(0.55, 0.42, 0.75),
    "forum": _Bar(0.2, 0.08),
    "other": _Bar(0.5, 0.25),
}


def choose(layout: PageLayout, likely: Floats, kind: Kind) -> list[bool]:
    """Choose the pieces of a nonempty page that are probably main text, with the pieces that belong to them.

    The threshold follows from the expected F1 of the page, which is optimal in theory (Lipton et al. 2014,
    https://arxiv.org/abs/1402.1892), and from the declared type of the page. Table rows are kept whole, and
    headings with the text below them. Hidden copies of a text are dropped, and so are the comments on a page
    that declares itself an article.
    """
    bar = _BARS[kind]
    sizes = np.array(list(map(len, layout.texts)), dtype=np.float64)
    threshold = max(bar.least, bar.share * _expected_f1(likely, sizes))
    if bar.elsewhere < 1:
        likely = np.where(_in_main_container(layout, likely, sizes), likely, bar.elsewhere * likely)
    kept = _above(layout, likely.tolist(), threshold)
    unwanted = hidden_repeats(layout, kept)
    if kind == "article":
        unwanted |= comments_under_article(layout, kept)
    for index in unwanted:
        kept[index] = False
    return kept


def _expected_f1(likely: Floats, sizes: NDArray[np.float64]) -> float:
    """Return the best F1 that any threshold is expected to reach, given calibrated probabilities."""
    order = np.argsort(-likely, kind="stable")
    right = np.cumsum((likely * sizes)[order])
    return float((2 * right / (np.cumsum(sizes[order]) + right[-1])).max())


def _in_main_container(layout: PageLayout, likely: Floats, sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each piece is in the innermost frame that holds most of the certain main text."""
    sure = np.where((likely >= _SURE) & (sizes >= _PROSE), likely * sizes, 0.0)
    inside = np.ones(len(sure), dtype=bool)
    if sure.any():
        held = np.concatenate([[0.0], np.cumsum(sure)])
        # Frames are in the order in which they begin, and the frames that hold most of it are nested.
        frame = np.flatnonzero(held.take(layout.last) - held.take(layout.first) >= _MAX_OF_IT * held[-1])[-1]
        inside[: layout.first[frame]] = inside[layout.last[frame] :] = False
    return inside


def _above(layout: PageLayout, likely: Sequence[float], threshold: float) -> list[bool]:
    """Return which pieces are above a threshold, with whole table rows and with headings."""
    outside = outside_main_text(layout)
    kept = [value >= threshold and not out for value, out in zip(likely, outside, strict=True)]
    for row in _rows(layout):
        sizes = [len(layout.texts[index]) for index in row]
        if sum(sizes) < _MAX_ROW:
            mean = sum(size * likely[index] for size, index in zip(sizes, row, strict=True)) / sum(sizes)
            for index in row:
                kept[index] = mean >= threshold and not outside[index]
    below = 0  # the level of the next heading, 0 for other text
    opens = False  # whether kept text follows, with only deeper headings before it
    levels = map(_LEVELS.get, map(layout.tags.__getitem__, reversed(layout.owners)))
    for index, level in zip(range(len(kept) - 1, -1, -1), levels, strict=True):
        if level is None:
            opens, below = kept[index], 0
            continue
        opens = opens and (not below or below > level)
        below = level
        kept[index] = kept[index] or (opens and likely[index] >= _FAIR_HEADING and not outside[index])
    return kept


def _rows(layout: PageLayout) -> list[list[int]]:
    """Return the pieces of each innermost table row that has two or more."""
    if "tr" not in layout.tags:
        return []
    row_of: list[int] = []
    for index, (tag, parent) in enumerate(zip(layout.tags, layout.parents, strict=True)):
        inherits = parent >= 0 and tag != "table"
        row_of.append(index if tag == "tr" else row_of[parent] if inherits else -1)
    rows: dict[int, list[int]] = {}
    for index, owner in enumerate(layout.owners):
        if row_of[owner] >= 0:
            rows.setdefault(row_of[owner], []).append(index)
    return [row for row in rows.values() if len(row) > 1]
