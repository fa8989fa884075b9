"""Which questions a collection can answer, and from which passages.

SQLite's full-text search and word counts decide this, not Citewell's retriever; occasional errors go both
ways.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from citewell.core.settings import Settings
from citewell.core.text import content_words, words
from citewell.core.types import Page, Reference
from citewell.pipeline.collections import catalog_of

COVERING = 0.9
NAMING = 0.5
_STEM = 5  # letters


class _Holding(NamedTuple):
    """A passage with an accepted answer, and how much of the question it is about, 0 to 1."""

    url: str
    title: str
    text: str
    share: float


class PassageSearch:
    """A search for passages by exact phrase, independent of Citewell's own retriever.

    The right passages of a question contain an accepted answer and are about the question: the title of their
    article has `NAMING` of its content words (weighted by idf), or they have `COVERING` of them. A question
    without any is not covered.
    """

    def __init__(self, pages: Iterable[Page]) -> None:
        """Index the passages, in a temporary file where they are many."""
        self._db = sqlite3.connect("")
        self._db.execute("CREATE VIRTUAL TABLE passages USING fts5 (url UNINDEXED, title, text)")
        self._frequency: Counter[str] = Counter()
        self._passages = 0
        for page in pages:
            rows = [(page.url, page.title, passage.text) for passage in page.passages]
            self._db.executemany("INSERT INTO passages VALUES (?, ?, ?)", rows)
            self._passages += len(rows)
            for _, title, text in rows:
                self._frequency.update(_stems(words(f"{title}\n{text}")))

    def right_articles(self, question: str, answers: Sequence[str]) -> frozenset[str]:
        """Return the articles that contain an answer and are about the question."""
        return frozenset(found.url for found in self._holding(question, answers) if found.share >= COVERING)

    def right_passages(self, question: str, answers: Sequence[str], k: int) -> tuple[Reference, ...]:
        """Return at most `k` passages that contain an answer and are about the question, numbered."""
        holding = [found for found in self._holding(question, answers) if found.share >= COVERING]
        best = dict.fromkeys(sorted(holding, key=lambda found: -found.share))
        return tuple(
            Reference(number, found.url, found.title, found.text, 0.0)
            for number, found in enumerate(list(best)[:k], 1)
        )

    def covering(self, question: str, answers: Sequence[str]) -> float:
        """Return the question's coverage, 0 to 1, by the best article with an answer; 0 if there is none."""
        return max((found.share for found in self._holding(question, answers)), default=0.0)

    def _holding(self, question: str, answers: Sequence[str]) -> Iterator[_Holding]:
        """Yield the passages with an answer."""
        asked_words = set(content_words(question))
        asked = _stems(asked_words)
        weight = self._weight(asked)
        for answer in answers:
            phrase = " ".join(re.findall(r"\w+", answer))
            if not phrase:
                continue
            rows = self._db.execute("SELECT * FROM passages WHERE passages MATCH ?", (f'"{phrase}"',))
            for url, title, text in rows:
                naming = set(content_words(title))
                named = naming <= asked_words and self._weight(_stems(naming)) >= NAMING * weight
                there = asked & _stems(words(f"{title}\n{text}"))
                covered = self._weight(there) / weight if weight > 0 else 1.0
                yield _Holding(url, title, text, 1.0 if named else covered)

    def _weight(self, stems: set[str]) -> float:
        return sum(math.log(self._passages / (1 + self._frequency[stem])) for stem in stems)


def stored_pages(settings: Settings) -> Iterator[Page]:
    """Yield every page of the collection that the settings name."""
    name = settings.search.collection
    store = catalog_of(settings, name).open(name)
    for url in store.digests():
        if page := store.read([url]).get(url):
            yield page


def _stems(texts: Iterable[str]) -> set[str]:
    return {text[:_STEM] for text in texts}
