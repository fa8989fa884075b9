"""Fills a collection: extracts, stores and indexes new and changed documents, and skips unchanged ones."""

from __future__ import annotations

import hashlib
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from citewell.core.errors import CollectionError
from citewell.core.types import Failure, Page
from citewell.retriever.collection.index import SearchIndex
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.collection.store import PageStore
from citewell.retriever.collection.workers import extract_all
from citewell.retriever.extract.sandbox import SandboxLimits

# Part of every digest: a new number makes the next run extract all pages again.
_EXTRACTION = "2"
_COMMIT = 1024  # pages between commits of the index


@dataclass
class Report:
    """The result of an indexing run. The numbers count pages."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failures: list[Failure] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What is missing from stored pages that were too long, each with the page's URL."""

    @property
    def seen(self) -> int:
        """The number of documents processed so far."""
        return self.added + self.changed + self.unchanged + len(self.failures)


class Indexer:
    """The only writer of a collection, for the duration of the `with` block.

    A second indexer of the same collection, in this or another process, calls `on_wait` and waits. Pages are
    stored first and indexed later: the next run indexes what an interrupted run has stored.
    """

    def __init__(
        self, folder: Path, on_wait: Callable[[], None] = lambda: None, *, rebuild: bool = False
    ) -> None:
        """Prepare to write the collection in `folder`, which is created if it does not exist.

        `rebuild` rebuilds the search index from the stored pages, whatever its state.
        """
        self._folder = folder
        self._on_wait = on_wait
        self._rebuild = rebuild

    def __enter__(self) -> Indexer:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self._folder / "lock")
            try:
                self._lock.acquire(timeout=0.2)
            except Timeout:
                self._on_wait()
                self._lock.acquire()
        except OSError as error:
            raise CollectionError(
                f"The collection folder {self._folder} is not writable: {error.strerror}.",
                "Set CITEWELL_DATA_DIR to a writable folder.",
            ) from error
        with ExitStack() as opened:
            opened.callback(self._lock.release)
            self.store = PageStore(self._folder / "pages.db")
            opened.callback(self.store.close)
            self._digests = self.store.digests()
            if self._rebuild or not SearchIndex.exists(self._folder / "index"):
                self.rebuild()
            else:
                self._index = SearchIndex(self._folder / "index")
                self.commit()
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._opened:
            if kind in (None, KeyboardInterrupt, CancelledError):
                self.commit()

    def is_known(self, document: SourceDocument) -> bool:
        """Return whether the collection has exactly this document."""
        return self._digests.get(document.url) == _digest(document)

    def put(self, source: str, documents: Iterable[tuple[SourceDocument, Page]], report: Report) -> None:
        """Store pages extracted from documents, and count them in the report."""
        pages = [(page, _digest(document)) for document, page in documents]
        self.store.put(source, pages)
        for page, digest in pages:
            if page.notice:
                report.notices.append(f"{page.url}: {page.notice}")
            if page.url in self._digests:
                report.changed += 1
            else:
                report.added += 1
            self._digests[page.url] = digest

    def drop(self, url: str, report: Report) -> None:
        """Delete one page, if the collection has it, and count it in the report."""
        if self._digests.pop(url, None) is not None:
            self.store.drop(url)
            report.removed += 1

    def forget(self, source: str, keep: set[str], report: Report) -> None:
        """Delete the pages of `source` that are not in `keep`, and count them in the report."""
        report.removed += self.store.forget(source, keep)
        self._digests = self.store.digests()

    def commit(self) -> None:
        """Bring the index up to date with the store."""
        unindexed = self.store.unindexed()
        first = next(unindexed, None)
        if first is not None:
            self._index.update(chain([first], unindexed))
            self.store.mark_indexed()

    def rebuild(self) -> None:
        """Rebuild the index from the stored pages."""
        self.store.mark_all_new()  # first: an interruption after this loses nothing
        SearchIndex.destroy(self._folder / "index")
        self._index = SearchIndex(self._folder / "index")
        self.commit()


def index_documents(
    indexer: Indexer,
    source: str,
    documents: Iterable[SourceDocument | Failure],
    *,
    sandbox: SandboxLimits | None = None,
    on_progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Index all documents of `source`, and delete its pages that no longer exist.

    With `sandbox`, documents are extracted in worker processes within these limits; without, in this process,
    which is only for trusted documents. Documents that cannot be read are in the report's `failures`, and
    their pages stay as they were. If lines of a file cannot be read, no page is deleted, since they may
    have held any of them.
    """
    report = Report()
    seen: set[str] = set()
    unread: list[Failure] = []
    fresh = _fresh(indexer, documents, report, seen, unread)
    uncommitted = 0
    for batch in extract_all(fresh, sandbox):
        good = [(document, page) for document, page in batch if isinstance(page, Page)]
        report.failures += [page for _, page in batch if isinstance(page, Failure)]
        indexer.put(source, good, report)
        uncommitted += len(good)
        if uncommitted >= _COMMIT:
            indexer.commit()
            uncommitted = 0
        on_progress(report)
    if not unread:
        indexer.forget(source, seen, report)
    indexer.commit()
    on_progress(report)
    return report


def _digest(document: SourceDocument) -> str:
    parts = (_EXTRACTION, document.content_type, document.title)
    return hashlib.sha256("\n".join(parts).encode() + document.body).hexdigest()[:32]


def _fresh(
    indexer: Indexer,
    documents: Iterable[SourceDocument | Failure],
    report: Report,
    seen: set[str],
    unread: list[Failure],
) -> Iterator[SourceDocument]:
    """Yield the documents to extract; collect all URLs, and the failures of lines without a URL."""
    for document in documents:
        if isinstance(document, Failure):
            report.failures.append(document)
            if not document.url.startswith("file:"):
                unread.append(document)
        elif document.url in seen:
            report.failures.append(Failure(document.url, "an earlier document has the same URL"))
        elif indexer.is_known(document):
            report.unchanged += 1
        else:
            yield document
        seen.add(document.url)
