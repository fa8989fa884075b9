"""Adds single documents to a collection, beside what is indexed from folders and sites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from citewell.core.types import Failure, Page
from citewell.retriever.collection.indexing import Indexer, Report
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.collection.workers import extract_each
from citewell.retriever.extract.sandbox import SandboxLimits

ADDED = "added://documents"
"""The source of documents that were added one by one: a run for another source does not delete them."""


class DocumentOutcome(NamedTuple):
    """What became of a document; `reason` says why it was skipped, or what was not read of it.

    `position` counts the documents of the run from 0.
    """

    position: int
    url: str
    status: Literal["indexed", "unchanged", "skipped"]
    reason: str | None = None
    title: str | None = None
    passages: int | None = None


def add_documents(
    indexer: Indexer,
    documents: Iterable[SourceDocument | Failure],
    report: Report,
    sandbox: SandboxLimits | None,
) -> Iterator[DocumentOutcome]:
    """Index documents, and yield what became of each as soon as it is known.

    A document replaces the one with the same URL. With `sandbox`, documents are extracted in worker processes
    within these limits. The numbers are counted in `report`.
    """
    waiting: list[DocumentOutcome] = []
    positions: dict[str, int] = {}
    fresh = _fresh(indexer, documents, report, waiting, positions)
    for document, page in extract_each(fresh, sandbox):
        yield from waiting
        waiting.clear()
        position = positions[document.url]
        if isinstance(page, Page):
            indexer.put(ADDED, [(document, page)], report)
            yield _described(position, page, "indexed")
        else:
            report.failures.append(page)
            yield DocumentOutcome(position, document.url, "skipped", page.reason)
        indexer.release([document])
    yield from waiting


def _fresh(
    indexer: Indexer,
    documents: Iterable[SourceDocument | Failure],
    report: Report,
    waiting: list[DocumentOutcome],
    positions: dict[str, int],
) -> Iterator[SourceDocument]:
    """Yield the documents to extract, and put what becomes of the others into `waiting`."""
    for position, document in enumerate(documents):
        reason = "an earlier document has the same name" if document.url in positions else ""
        if isinstance(document, Failure):
            reason = document.reason
        if reason or isinstance(document, Failure):
            report.failures.append(Failure(document.url, reason))
            waiting.append(DocumentOutcome(position, document.url, "skipped", reason))
            continue
        positions[document.url] = position
        if indexer.claim([document], report):
            yield document
        elif page := indexer.store.read([document.url]).get(document.url):
            waiting.append(_described(position, page, "unchanged"))
        else:
            waiting.append(DocumentOutcome(position, document.url, "skipped", "another run is reading it"))


def _described(position: int, page: Page, status: Literal["indexed", "unchanged"]) -> DocumentOutcome:
    return DocumentOutcome(position, page.url, status, page.notice or None, page.title, len(page.passages))
