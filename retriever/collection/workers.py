"""Extraction in several processes, which end when they should."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice

from core.errors import CollectionError, ExtractionError
from core.types import Failure, Page
from retriever.collection.sources import Document
from retriever.extract.page import extract

_BATCH = 64  # documents handed to a process at a time

Batch = list[tuple[Document, Page | Failure]]


def extract_document(document: Document) -> Page | Failure:
    """The page that a document holds, or why it holds none."""
    try:
        return extract(document.body, document.url, document.content_type, document.title)
    except ExtractionError as error:
        return Failure(document.url, error.message)


def extract_all(documents: Iterator[Document], workers: int) -> Iterator[Batch]:
    """Extract in batches, in order; in this process when there is no more than a batch in all."""
    batches = iter(lambda: list(islice(documents, _BATCH)), [])
    first = next(batches, [])
    second = next(batches, [])
    if not second:
        yield _extract_batch(first)
        return
    # Fresh processes, not forks: a fork copies locks that threads of the models may hold.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_follow_parent) as pool:
        running: deque[Future[Batch]] = deque()
        try:
            for batch in chain([first, second], batches):
                with _interrupt_held():
                    running.append(pool.submit(_extract_batch, batch))
                if len(running) > 2 * workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BrokenProcessPool as error:
            raise CollectionError(
                "A process that reads documents was ended from outside.",
                "There may be too little memory: run the same command again, with fewer workers.",
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _extract_batch(documents: list[Document]) -> Batch:
    return [(document, extract_document(document)) for document in documents]


def _follow_parent() -> None:
    """Leave Ctrl-C, which reaches the whole process group, to the parent, and end when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)  # a killed parent tells its workers nothing: they would wait for it for ever

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _interrupt_held() -> Iterator[None]:
    """Hold Ctrl-C back while workers start: they inherit that until they have chosen to ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    caught: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    if in_main:
        # The mask holds for this thread and its processes. Where another thread, such as one of Tantivy's,
        # takes the signal, Python still interrupts this one, and a half-started worker has a traceback.
        before = signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        if in_main:
            signal.signal(signal.SIGINT, before)
        if caught:
            signal.raise_signal(signal.SIGINT)
