"""The search index of a collection: Tantivy's BM25 over its passages."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import tantivy

from citewell.core.errors import CollectionError
from citewell.core.text import content_words, space_out
from citewell.core.types import Page

_META = "meta.json"
_SYSTEM_ERROR = re.compile(r"(?:os error |\bcode: )(\d+)")
_TOKENIZER = "en_stem"
_HEAP_BYTES = 128_000_000
# The score of a page is the sum of its passages' scores, each halved once more than the one before, over this
# many passages of all pages. On QED's questions over Wikipedia for Schools this found more correct pages than
# scoring by the best passage or by whole pages.
_PASSAGES = 400
_DECAY = 0.5
# BM25 favors the title, a short field, so that a match in it outweighs several in the body even at this
# weight; at 1 and above, recall falls.
_TITLE_BOOST = 0.3


class PageHit(NamedTuple):
    """A matching page, its score, and the number of its best passage."""

    url: str
    score: float
    passage: int


class SearchIndex:
    """A Tantivy index in a folder, with one document per passage."""

    def __init__(self, folder: Path) -> None:
        """Open the index, creating it if it does not exist. Raises `CollectionError` if it is damaged."""
        self._folder = folder
        with _explained(self._folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(_schema(), str(folder))

    @staticmethod
    def exists(folder: Path) -> bool:
        """Return whether there is an index in `folder`, intact or damaged."""
        return (folder / _META).is_file()

    @staticmethod
    def destroy(folder: Path) -> None:
        """Delete the index in `folder`, if any; it can be rebuilt from the store."""
        if folder.exists():
            with _explained(folder):
                shutil.rmtree(folder)

    def update(self, pages: Iterable[tuple[Page, bool]]) -> None:
        """Add pages, or remove those whose flag is True, in one commit."""
        with _explained(self._folder):
            writer = self._index.writer(_HEAP_BYTES)
            try:
                for page, gone in pages:
                    writer.delete_documents_by_term("url", page.url)
                    for document in () if gone else _documents(page):
                        writer.add_document(document)
                writer.commit()
                writer.wait_merging_threads()
            finally:
                del writer  # releases its lock, which the traceback of an interruption would keep

    def search(self, query: str, limit: int) -> list[PageHit]:
        """Return the `limit` best pages for a plain-text query; operators have no meaning."""
        with _explained(self._folder):
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
def _explained(folder: Path) -> Iterator[None]:
    name = folder.parent.name
    try:
        yield
    except BaseException as error:
        # For some damage, Tantivy panics; PyO3 turns that into a BaseException.
        panic = type(error).__name__ == "PanicException"
        if not panic and not isinstance(error, OSError | ValueError | RuntimeError):
            raise
        if reason := _system_error(error):
            raise CollectionError(
                f"The index of the collection {name!r} cannot be read or written: {reason}.",
                f"Check the free space and the permissions of {folder}.",
            ) from error
        raise CollectionError(
            f"The index of the collection {name!r} cannot be used: {error}.",
            f"Rebuild it from the stored pages: citewell index --collection {name} --rebuild",
        ) from error


def _system_error(error: BaseException) -> str:
    """Return the operating system's error, if it was one; Tantivy reports it only as text."""
    if isinstance(error, OSError):
        return str(error)
    code = _SYSTEM_ERROR.search(str(error))
    return os.strerror(int(code[1])) if code else ""


def _documents(page: Page) -> Iterator[tantivy.Document]:
    title = space_out(page.title)
    for number, passage in enumerate(page.passages):
        body = space_out(" ".join((*passage.headings, passage.text)))
        yield tantivy.Document(url=page.url, passage=number, title=title, body=body)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("body", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_integer_field("passage", stored=True)
    return builder.build()
