"""Text to drop because of other kept text: hidden copies of it, and comments under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from citewell.retriever.extract.main_text.frames import name_words

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout

_RUN = 4  # words
_FEWEST_RUNS = 8  # of a copy
_REPEATED = 0.8  # the share of its runs that are elsewhere too
_COMMENTS = frozenset({"comment", "comments", "commentlist", "disqus", "respond"})
_WHOLE_PAGE = frozenset({"html", "body", "main"})  # their names say that the page has comments somewhere
_LONG = 80  # characters of a piece, and of all such pieces an article has
_ARTICLE = 300


def hidden_repeats(layout: PageLayout, kept: Sequence[bool]) -> set[int]:
    """Return the kept pieces that the page hides and whose text it also shows, as for structured data."""
    if not layout.hidden:
        return set()
    hides = layout.contained_in(layout.hidden)
    hidden = [index for index in _kept(kept) if hides[index]]
    if not hidden:
        return set()
    shown: set[tuple[str, ...]] = set()
    for index in _kept(kept):
        if not hides[index]:
            shown.update(_runs(layout.texts[index]))
    repeats = set()
    for index in hidden:
        runs = _runs(layout.texts[index])
        if len(runs) >= _FEWEST_RUNS and sum(run in shown for run in runs) >= _REPEATED * len(runs):
            repeats.add(index)
        else:
            shown.update(runs)
    return repeats


def comments_under_article(layout: PageLayout, kept: Sequence[bool]) -> set[int]:
    """Return the kept pieces in frames named after comments, if enough other text is kept."""
    different = set(layout.names)
    named = {
        names
        for names in different
        if ("comment" in (lower := names.lower()) or "disqus" in lower or "respond" in lower)
        and _COMMENTS & name_words(names)
    }
    if not named:
        return set()
    inside = layout.contained_in(
        index
        for index, names in enumerate(layout.names)
        if names in named and layout.tags[index] not in _WHOLE_PAGE
    )
    comments = {index for index in _kept(kept) if inside[index]}
    sizes = (len(layout.texts[index]) for index in _kept(kept) if index not in comments)
    return comments if sum(size for size in sizes if size >= _LONG) >= _ARTICLE else set()


def _kept(kept: Sequence[bool]) -> list[int]:
    return [index for index, keep in enumerate(kept) if keep]


def _runs(text: str) -> list[tuple[str, ...]]:
    words = text.split()
    return list(zip(*(words[start:] for start in range(_RUN)), strict=False))
