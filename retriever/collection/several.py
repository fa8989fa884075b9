"""Several collections as one store of pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from citewell.core.types import Page
from citewell.retriever.collection.collection import Collection
from citewell.retriever.collection.spelling import spelled
from citewell.retriever.encoder.encoder import Vectors


class SeveralCollections:
    """The pages of several collections; implements `PageSource` and `Speller`.

    A page that several of them have comes from the first.
    """

    def __init__(self, collections: Sequence[Collection]) -> None:
        """Hold the pages of `collections`, the preferred one first."""
        self._collections = tuple(collections)

    def count(self) -> int:
        """Return the number of pages; one that several collections have counts for each."""
        return sum(each.count() for each in self._collections)

    def urls(self) -> Sequence[str]:
        """See `PageSource.urls`."""
        return list(dict.fromkeys(chain.from_iterable(each.urls() for each in self._collections)))

    def page(self, url: str) -> Page | None:
        """See `PageSource.page`."""
        return next(filter(None, (each.page(url) for each in self._collections)), None)

    def vectors(self, page: Page) -> Vectors | None:
        """See `PageSource.vectors`."""
        found = (each.vectors(page) for each in self._collections)
        return next((vectors for vectors in found if vectors is not None), None)

    def spelled(self, text: str) -> str:
        """Return the text with corrected names; a word that one of the collections knows is right."""
        return spelled(text, self)

    def frequency(self, word: str) -> int:
        """See `Vocabulary.frequency`."""
        return sum(each.store.frequency(word) for each in self._collections)

    def titles_near(self, word: str, edits: int) -> Iterable[str]:
        """See `Vocabulary.titles_near`."""
        near: Iterator[Iterable[str]] = (each.store.titles_near(word, edits) for each in self._collections)
        return chain.from_iterable(near)
