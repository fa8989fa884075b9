"""The search index of a collection: Tantivy's BM25 over its passages."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import tantivy

from core.errors import CollectionError
from core.text import content_words, space_out
from core.types import Page

_TOKENIZER = "en_stem"
_HEAP_BYTES = 128_000_000
# A page's score sums its passages', each next one halved, over this many passages. Right article among
# ten hits on QED questions over Wikipedia for Schools: .954, against .931 for the best passage alone
# and .937 for whole pages (benchmarks/ask_wikispeedia.py --split dev measures the default).
_PASSAGES = 400
_DECAY = 0.5
# The title is a short field of its own, which makes a match in it count for several in the body even
# at this weight; at 1 and above, recall falls.
_TITLE_BOOST = 0.3


class PageHit(NamedTuple):
    """A page that matches, its score, and which of its passages matches best."""

    url: str
    score: float
    passage: int


class SearchIndex:
    """A Tantivy index in a folder; one document a passage."""

    def __init__(self, folder: Path) -> None:
        """Open the index, made when it is not there; raises `CollectionError` when it is damaged."""
        self._folder = folder
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(_schema(), str(folder))

    @staticmethod
    def destroy(folder: Path) -> None:
        """Delete the index in `folder`, to be built again from the store."""
        shutil.rmtree(folder, ignore_errors=True)

    def update(self, pages: Iterable[tuple[Page, bool]]) -> None:
        """Learn pages, or forget those whose flag is True, in one commit."""
        with self._explained():
            writer = self._index.writer(_HEAP_BYTES)
            for page, gone in pages:
                writer.delete_documents_by_term("url", page.url)
                for number, passage in enumerate(() if gone else page.passages):
                    body = space_out(" ".join((*passage.headings, passage.text)))
                    writer.add_document(
                        tantivy.Document(url=page.url, passage=number, title=space_out(page.title), body=body)
                    )
            writer.commit()
            writer.wait_merging_threads()

    def search(self, query: str, limit: int) -> list[PageHit]:
        """The `limit` best pages for a query in plain words; operators have no meaning."""
        with self._explained():
            self._index.reload()
            searcher = self._index.searcher()
            parsed = self._index.parse_query(
                " ".join(content_words(query)), ["title", "body"], {"title": _TITLE_BOOST, "body": 1.0}
            )
            pages: dict[str, PageHit] = {}
            weights: dict[str, float] = {}
            for score, address in searcher.search(parsed, _PASSAGES).hits:
                document = searcher.doc(address)
                url, passage = document["url"][0], document["passage"][0]
                best = pages.get(url, PageHit(url, 0.0, passage))
                weight = weights.get(url, 1.0)
                pages[url] = best._replace(score=best.score + weight * score)
                weights[url] = weight * _DECAY
        return sorted(pages.values(), key=lambda hit: (-hit.score, hit.url))[:limit]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        name = self._folder.parent.name
        try:
            yield
        except OSError as error:
            raise CollectionError(
                f"The index of the collection {name!r} cannot be read or written: {error}.",
                f"Check the free space and the rights of {self._folder}.",
            ) from error
        except (ValueError, RuntimeError) as error:
            raise CollectionError(
                f"The index of the collection {name!r} cannot be used: {error}.",
                f"Build it again from the stored pages: citewell index --collection {name} --rebuild",
            ) from error


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("body", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_integer_field("passage", stored=True)
    return builder.build()
