"""Fills a collection: extracts, stores and indexes new and changed documents, and skips unchanged ones."""

from __future__ import annotations

import hashlib
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from citewell.core.types import Failure, Page
from citewell.retriever.collection.protocol import Catalog, CollectionWriter
from citewell.retriever.collection.sources import Skipped, SourceDocument
from citewell.retriever.collection.workers import extract_all
from citewell.retriever.extract.sandbox import SandboxLimits

# Part of every digest: a new number makes the next run extract all pages again.
_EXTRACTION = "4"
_COMMIT = 1024  # pages between commits of the index
_STAGE = "read"  # of the claims
_AHEAD = 64  # documents claimed together
_AHEAD_BYTES = 16_000_000


@dataclass
class Report:
    """The result of an indexing run. The numbers count pages."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    elsewhere: int = 0
    """Documents that another run was reading at that moment."""
    gone: list[str] = field(default_factory=list)
    """The URLs of pages that were removed, since their source has them no longer."""
    failures: list[Failure] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    """Files of a folder that are not documents."""
    notices: list[str] = field(default_factory=list)
    """What is missing from stored pages that were too long, each with the page's URL."""

    @property
    def removed(self) -> int:
        """The number of pages removed."""
        return len(self.gone)

    @property
    def seen(self) -> int:
        """The number of documents processed so far."""
        return self.added + self.changed + self.unchanged + self.elsewhere + len(self.failures)

    def plus(self, other: Report) -> Report:
        """Return the report of two runs, one after the other."""
        return Report(**{name: value + vars(other)[name] for name, value in vars(self).items()})


class Indexer:
    """Writes the documents of a run into a collection, and counts them."""

    def __init__(self, store: CollectionWriter) -> None:
        """Write to `store`; see `indexing`."""
        self.store = store

    def is_known(self, document: SourceDocument) -> bool:
        """Return whether the collection has exactly this document."""
        return self.store.digests([document.url]).get(document.url) == _digest(document)

    def claim(self, documents: Sequence[SourceDocument], report: Report) -> list[SourceDocument]:
        """Return the new and changed documents that no other run is reading, and count the rest."""
        claimed = self.store.claim(_STAGE, [document.url for document in documents])
        known = self.store.digests([document.url for document in documents])
        wanted, done = [], []
        for document in documents:
            if known.get(document.url) == _digest(document):
                report.unchanged += 1
                done.append(document.url)
            elif document.url in claimed:
                wanted.append(document)
            else:
                report.elsewhere += 1
        self.store.release(_STAGE, claimed.intersection(done))
        return wanted

    def release(self, documents: Iterable[SourceDocument]) -> None:
        """Release claimed documents, which were stored or cannot be read."""
        self.store.release(_STAGE, [document.url for document in documents])

    def put(self, source: str, documents: Iterable[tuple[SourceDocument, Page]], report: Report) -> None:
        """Store pages extracted from documents, with the present day, and count them in the report."""
        today = datetime.now(UTC).date().isoformat()
        pages = [(replace(page, read=today), _digest(document)) for document, page in documents]
        known = self.store.digests([page.url for page, _ in pages])
        self.store.put(source, pages)
        for page, _ in pages:
            if page.notice:
                report.notices.append(f"{page.url}: {page.notice}")
            if page.url in known:
                report.changed += 1
            else:
                report.added += 1

    def drop(self, url: str, report: Report) -> None:
        """Delete one page, if the collection has it, and count it in the report."""
        if self.store.drop(url):
            report.gone.append(url)

    def forget(self, source: str, keep: set[str], report: Report) -> None:
        """Delete the pages of `source` that are not in `keep`, and count them in the report."""
        report.gone += self.store.forget(source, keep)

    def commit(self) -> None:
        """Make everything written so far searchable."""
        self.store.commit()


@contextmanager
def indexing(
    catalog: Catalog, name: str, on_wait: Callable[[], None] = lambda: None, *, rebuild: bool = False
) -> Iterator[Indexer]:
    """Open the collection `name` to fill it, as `Catalog.writing` does, and commit at the end.

    An interruption by the user commits too; after an error, the next run does.
    """
    with catalog.writing(name, on_wait, rebuild=rebuild) as store:
        indexer = Indexer(store)
        try:
            yield indexer
        except (KeyboardInterrupt, CancelledError):
            indexer.commit()
            raise
        indexer.commit()


def index_documents(
    indexer: Indexer,
    source: str,
    documents: Iterable[SourceDocument | Skipped | Failure],
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
        indexer.release(document for document, _ in batch)
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
    documents: Iterable[SourceDocument | Skipped | Failure],
    report: Report,
    seen: set[str],
    unread: list[Failure],
) -> Iterator[SourceDocument]:
    """Yield the documents to extract; collect all URLs, and the failures of lines without a URL."""
    ahead: list[SourceDocument] = []
    for document in documents:
        if isinstance(document, Skipped):
            report.skipped.append(document)
            continue
        if isinstance(document, Failure):
            report.failures.append(document)
            if not document.url.startswith("file:"):
                unread.append(document)
        elif document.url in seen:
            report.failures.append(Failure(document.url, "an earlier document has the same URL"))
        else:
            ahead.append(document)
            if len(ahead) >= _AHEAD or sum(len(one.body) for one in ahead) >= _AHEAD_BYTES:
                yield from indexer.claim(ahead, report)
                ahead = []
        seen.add(document.url)
    yield from indexer.claim(ahead, report)
