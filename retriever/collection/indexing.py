"""Filling a collection: what changed is extracted, stored and indexed; what did not is skipped."""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from core.errors import CollectionError, ExtractionError
from core.types import Failure, Page
from retriever.collection.index import SearchIndex
from retriever.collection.sources import Document
from retriever.collection.store import PageStore
from retriever.extract.page import extract

# Part of every digest: a new number makes the next run read all pages again.
_EXTRACTION = "1"
_BATCH = 64  # documents handed to a worker process at a time
_COMMIT = 1024  # pages between two commits of the index


@dataclass
class Report:
    """What an indexing run did. The numbers count pages."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def seen(self) -> int:
        """How many documents were looked at so far."""
        return self.added + self.changed + self.unchanged + len(self.failures)


class Indexer:
    """The one writer of a collection, for as long as the `with` block lasts.

    A second indexer of the same collection, in this or another process, waits; `on_wait` is told so.
    Pages are stored first and indexed after: what an interrupted run has stored, the next run indexes.
    """

    def __init__(self, folder: Path, on_wait: Callable[[], None] = lambda: None) -> None:
        """Prepare to write the collection in `folder`, which is made when it is not there."""
        self._folder = folder
        self._on_wait = on_wait

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
                f"The collection folder {self._folder} cannot be written: {error.strerror}.",
                "Set CITEWELL_DATA_DIR to a folder that can.",
            ) from error
        try:
            self.store = PageStore(self._folder / "pages.db")
            self._index = SearchIndex(self._folder / "index")
            self._digests = self.store.digests()
            self.commit()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None or kind is KeyboardInterrupt:
                self.commit()
        finally:
            self.store.close()
            self._lock.release()

    def is_known(self, document: Document) -> bool:
        """Say whether the collection holds exactly this document."""
        return self._digests.get(document.url) == _digest(document)

    def put(self, source: str, documents: Iterable[tuple[Document, Page]], report: Report) -> None:
        """Store pages that were extracted from documents, and count them in the report."""
        pages = [(page, _digest(document)) for document, page in documents]
        self.store.put(source, pages)
        for page, digest in pages:
            if page.url in self._digests:
                report.changed += 1
            else:
                report.added += 1
            self._digests[page.url] = digest

    def commit(self) -> None:
        """Let the index learn what the store holds."""
        unindexed = self.store.unindexed()
        first = next(unindexed, None)
        if first is not None:
            self._index.update(chain([first], unindexed))
            self.store.mark_indexed()

    def rebuild(self) -> None:
        """Build the index anew from the stored pages."""
        SearchIndex.destroy(self._folder / "index")
        self._index = SearchIndex(self._folder / "index")
        self.store.mark_all_new()
        self.commit()


def index_documents(
    indexer: Indexer,
    source: str,
    documents: Iterable[Document | Failure],
    *,
    workers: int,
    on_progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Index all documents of `source` with `workers` processes, and forget its pages that are no more.

    Documents that cannot be read are in the report's `failures`, and a page that was there before stays
    as it was.
    """
    report = Report()
    seen: set[str] = set()
    fresh = _fresh(indexer, documents, report, seen)
    uncommitted = 0
    for batch in _extracted(fresh, workers):
        good = [(document, page) for document, page in batch if isinstance(page, Page)]
        report.failures += [page for _, page in batch if isinstance(page, Failure)]
        indexer.put(source, good, report)
        uncommitted += len(good)
        if uncommitted >= _COMMIT:
            indexer.commit()
            uncommitted = 0
        on_progress(report)
    report.removed = indexer.store.forget(source, seen)
    indexer.commit()
    on_progress(report)
    return report


def extract_document(document: Document) -> Page | Failure:
    """The page that a document holds, or why it holds none."""
    try:
        return extract(document.body, document.url, document.content_type, document.title)
    except ExtractionError as error:
        return Failure(document.url, error.message)


def _digest(document: Document) -> str:
    parts = (_EXTRACTION, document.content_type, document.title)
    return hashlib.sha256("\n".join(parts).encode() + document.body).hexdigest()[:32]


def _fresh(
    indexer: Indexer, documents: Iterable[Document | Failure], report: Report, seen: set[str]
) -> Iterator[Document]:
    for document in documents:
        if isinstance(document, Failure):
            report.failures.append(document)
            continue
        seen.add(document.url)
        if indexer.is_known(document):
            report.unchanged += 1
        else:
            yield document


Batch = list[tuple[Document, Page | Failure]]


def _extracted(documents: Iterator[Document], workers: int) -> Iterator[Batch]:
    """Extract in batches, in order; in this process when there is less than a batch in all."""
    batches = iter(lambda: list(islice(documents, _BATCH)), [])
    first = next(batches, [])
    second = next(batches, [])
    if not second:
        yield _extract_batch(first)
        return
    # Fresh processes, not forks: a fork copies locks that threads of the models may hold.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupt) as pool:
        running: deque[Future[Batch]] = deque()
        try:
            for batch in chain([first, second], batches):
                running.append(pool.submit(_extract_batch, batch))
                if len(running) > 2 * workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _extract_batch(documents: list[Document]) -> Batch:
    return [(document, extract_document(document)) for document in documents]


def _ignore_interrupt() -> None:
    # Ctrl-C reaches the whole process group; the parent decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
