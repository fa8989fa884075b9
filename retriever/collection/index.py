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
# A page's score sums its passages', each next one halved, over this many passages: on questions of QED over
# Wikipedia for Schools this found more right pages than the best passage alone or whole pages did.
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
        with _explained(self._folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(_schema(), str(folder))

    @staticmethod
    def exists(folder: Path) -> bool:
        """Say whether there is an index in `folder`, whole or damaged."""
        return (folder / _META).is_file()

    @staticmethod
    def destroy(folder: Path) -> None:
        """Delete the index in `folder`, if any, to be built again from the store."""
        if folder.exists():
            with _explained(folder):
                shutil.rmtree(folder)

    def update(self, pages: Iterable[tuple[Page, bool]]) -> None:
        """Learn pages, or forget those whose flag is True, in one commit."""
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
                del writer  # it holds a lock, and the traceback of an interruption would hold it

    def search(self, query: str, limit: int) -> list[PageHit]:
        """The `limit` best pages for a query in plain words; operators have no meaning."""
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
        # Tantivy meets some damage with a Rust panic, which PyO3 hands on as a BaseException.
        panic = type(error).__name__ == "PanicException"
        if not panic and not isinstance(error, OSError | ValueError | RuntimeError):
            raise
        if reason := _system_error(error):
            raise CollectionError(
                f"The index of the collection {name!r} cannot be read or written: {reason}.",
                f"Check the free space and the rights of {folder}.",
            ) from error
        raise CollectionError(
            f"The index of the collection {name!r} cannot be used: {error}.",
            f"Build it again from the stored pages: citewell index --collection {name} --rebuild",
        ) from error


def _system_error(error: BaseException) -> str:
    """What the operating system refused, if it was that: Tantivy has its errors in words alone."""
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
