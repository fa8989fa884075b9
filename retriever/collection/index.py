"""The search index of a collection: Tantivy's BM25 over its passages."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from citewell.core.errors import CollectionError
from citewell.core.subject import named
from citewell.core.text import content_words, space_out
from citewell.core.types import Page
from citewell.retriever.collection.page_scores import (
    NAMESAKES,
    PASSAGES,
    TITLE_BOOST,
    PageHit,
    PassageHit,
    asked_names,
    best_pages,
    stems,
)

_META = "meta.json"
_FIELDS = {"url", "name", "title", "body", "passage"}
_SYSTEM_ERROR = re.compile(r"(?:os error |\bcode: )(\d+)")
_TOKENIZER = "en_stem"
_HEAP_BYTES = 128_000_000
_NEAR = 100  # pages with words like a misspelled one in their titles


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
    def is_outdated(folder: Path) -> bool:
        """Return whether the index in `folder` lacks a field, since an earlier version built it."""
        try:
            fields = json.loads((folder / _META).read_bytes())["schema"]
            return not {field["name"] for field in fields} >= _FIELDS
        except (OSError, ValueError, KeyError, TypeError):
            return False  # missing or damaged

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
            best = searcher.search(self._having(stems(" ".join(content_words(query)))), PASSAGES).hits
            documents = [(searcher.doc(address), score) for score, address in best]
            namesakes = self._named(searcher, query)
        found = [
            PassageHit(document["url"][0], document["passage"][0], score) for document, score in documents
        ]
        return best_pages(found, namesakes, limit)

    def frequency(self, word: str) -> int:
        """Return how many passages have the word, in any form of its stem."""
        stem = " ".join(stems(word))
        with _explained(self._folder):
            searcher = self._index.searcher()
            return max(searcher.doc_freq(name, stem) for name in ("title", "body"))

    def near(self, word: str, edits: int) -> list[str]:
        """Return the URLs of pages whose titles have a word that at most `edits` edits turn into `word`."""
        stem = " ".join(stems(word))
        with _explained(self._folder):
            searcher = self._index.searcher()
            schema = self._index.schema
            close = tantivy.Query.fuzzy_term_query(schema, "title", stem, distance=edits)
            first = tantivy.Query.term_query(schema, "passage", 0)  # one passage of each page
            both = [(tantivy.Occur.Must, close), (tantivy.Occur.Must, first)]
            found = searcher.search(tantivy.Query.boolean_query(both), _NEAR)
            return [searcher.doc(address)["url"][0] for _, address in found.hits]

    def _having(self, asked: Iterable[str]) -> tantivy.Query:
        """Return the query for passages with any of the stems.

        Tantivy's own parser would make a phrase of a word that its tokenizer divides, as it does in Hindi.
        """
        query, schema = tantivy.Query, self._index.schema
        terms = [
            (tantivy.Occur.Should, query.boost_query(query.term_query(schema, name, stem, "freq"), boost))
            for stem in dict.fromkeys(asked)
            for name, boost in (("title", TITLE_BOOST), ("body", 1.0))
        ]
        return query.boolean_query(terms)

    def _named(self, searcher: tantivy.Searcher, query: str) -> dict[str, float]:
        """Return the pages with the name of something in the query, and the name's share of its words."""
        shares = asked_names(query)
        if not shares:
            return {}
        wanted = tantivy.Query.term_set_query(self._index.schema, "name", list(shares))
        pages = {}
        for _, address in searcher.search(wanted, NAMESAKES).hits:
            document = searcher.doc(address)
            pages[document["url"][0]] = max(shares.get(name, 0.0) for name in document["name"])
        return pages


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
        names = [] if number else sorted(named(page.title))
        yield tantivy.Document(url=page.url, passage=number, title=title, body=body, name=names)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("name", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("body", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_integer_field("passage", stored=True, indexed=True)
    return builder.build()
