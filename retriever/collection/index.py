"""The search index of a collection: Tantivy's BM25 over its passages."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import tantivy

from citewell.core.errors import CollectionError
from citewell.core.text import content_words, space_out
from citewell.core.types import Page
from citewell.retriever.subject import asked_subject, mentioned, named

_META = "meta.json"
_FIELDS = {"url", "name", "title", "body", "passage"}
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
# A page whose title is the name of something in the question gains this share of the best score, times the
# share of the question's words that the name has: the page on the subject is then among the hits.
_NAMED = 1.0
_NAMESAKES = 50  # pages
_NEAR = 100  # pages with words like a misspelled one in their titles


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
            best_score = max((page.score for page in pages.values()), default=1.0)
            for url, share in self._named(searcher, query).items():
                page = pages.get(url, PageHit(url, 0.0, 0))
                pages[url] = page._replace(score=page.score + _NAMED * share * best_score)
        return sorted(pages.values(), key=lambda hit: (-hit.score, hit.url))[:limit]

    def frequency(self, word: str) -> int:
        """Return how many passages have the word, in any form of its stem."""
        stem = " ".join(_stemmer().analyze(word))
        with _explained(self._folder):
            searcher = self._index.searcher()
            return max(searcher.doc_freq(name, stem) for name in ("title", "body"))

    def near(self, word: str, edits: int) -> list[str]:
        """Return the URLs of pages whose titles have a word that at most `edits` edits turn into `word`."""
        stem = " ".join(_stemmer().analyze(word))
        with _explained(self._folder):
            searcher = self._index.searcher()
            schema = self._index.schema
            close = tantivy.Query.fuzzy_term_query(schema, "title", stem, distance=edits)
            first = tantivy.Query.term_query(schema, "passage", 0)  # one passage of each page
            both = [(tantivy.Occur.Must, close), (tantivy.Occur.Must, first)]
            found = searcher.search(tantivy.Query.boolean_query(both), _NEAR)
            return [searcher.doc(address)["url"][0] for _, address in found.hits]

    def _named(self, searcher: tantivy.Searcher, query: str) -> dict[str, float]:
        """Return the pages with the name of something in the query, and the name's share of its words."""
        asked = frozenset(content_words(query))
        shares = {name: len(found) / len(asked) for name, found in mentioned(query)}
        if subject := asked_subject(query):
            shares[subject] = 1.0
        if not shares:
            return {}
        wanted = tantivy.Query.term_set_query(self._index.schema, "name", list(shares))
        pages = {}
        for _, address in searcher.search(wanted, _NAMESAKES).hits:
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


@cache
def _stemmer() -> tantivy.TextAnalyzer:
    """Return what turns a word into the term of the index, as the tokenizer `en_stem` does."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    return builder.filter(tantivy.Filter.stemmer("english")).build()


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
