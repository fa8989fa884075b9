"""The score of a page for a query, from the scores of its passages and from its names.

Both stores of collections use it, so that they find the same pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from citewell.core.subject import asked_subject, mentioned
from citewell.core.text import content_words

# The score of a page is the sum of its passages' scores, each halved once more than the one before, over this
# many passages of all pages. On QED's questions over Wikipedia for Schools this found more correct pages than
# scoring by the best passage or by whole pages.
PASSAGES = 400
_DECAY = 0.5
# BM25 favors the title, a short field, so that a match in it outweighs several in the body even at this
# weight; at 1 and above, recall falls.
TITLE_BOOST = 0.3
# A page whose title is the name of something in the question gains this share of the best score, times the
# share of the question's words that the name has: the page on the subject is then among the hits.
_NAMED = 0.5
NAMESAKES = 50
"""Max pages with a name of the question."""


class PageHit(NamedTuple):
    """A matching page, its score, and the number of its best passage."""

    url: str
    score: float
    passage: int


class PassageHit(NamedTuple):
    """A matching passage, its number on its page, and its score."""

    url: str
    passage: int
    score: float


def best_pages(passages: Iterable[PassageHit], namesakes: Mapping[str, float], limit: int) -> list[PageHit]:
    """Return the `limit` best pages.

    `passages` are the passages that match best, in their order, and `namesakes` the URLs of pages with a name
    of the query, each with the name's share of the query's words.
    """
    pages: dict[str, PageHit] = {}
    weights: dict[str, float] = {}
    for url, passage, score in passages:
        best = pages.get(url, PageHit(url, 0.0, passage))
        weight = weights.get(url, 1.0)
        pages[url] = best._replace(score=best.score + weight * score)
        weights[url] = weight * _DECAY
    best_score = max((page.score for page in pages.values()), default=1.0)
    for url, share in namesakes.items():
        page = pages.get(url, PageHit(url, 0.0, 0))
        pages[url] = page._replace(score=page.score + _NAMED * share * best_score)
    return sorted(pages.values(), key=lambda hit: (-hit.score, hit.url))[:limit]


def asked_names(query: str) -> dict[str, float]:
    """Return what may be names of things in the query, each with its share of the query's words."""
    asked = frozenset(content_words(query))
    shares = {name: len(found) / len(asked) for name, found in mentioned(query)}
    if subject := asked_subject(query):
        shares[subject] = 1.0
    return shares


def stems(text: str) -> list[str]:
    """Return the stems of a text's words, as Tantivy's tokenizer `en_stem` does."""
    found: list[str] = _analyzer().analyze(text)
    return found


@cache
def _analyzer() -> Any:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    filters = (tantivy.Filter.remove_long(40), tantivy.Filter.lowercase(), tantivy.Filter.stemmer("english"))
    for one in filters:
        builder = builder.filter(one)
    return builder.build()
