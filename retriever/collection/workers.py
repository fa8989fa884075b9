"""Extracts many documents in worker processes, for synchronous callers."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice

from citewell.core.errors import ExtractionError
from citewell.core.types import Failure, Page
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.extract.page import extract
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits

_BATCH = 64  # documents stored together
_AHEAD = 128  # documents read ahead of a slow one
_AHEAD_BYTES = 64_000_000

Batch = list[tuple[SourceDocument, Page | Failure]]


def extract_document(document: SourceDocument) -> Page | Failure:
    """Extract a document in this process, without limits."""
    try:
        return extract(document.body, document.url, document.content_type, document.title)
    except ExtractionError as error:
        return _failure(document, error)


def extract_all(documents: Iterator[SourceDocument], limits: SandboxLimits | None) -> Iterator[Batch]:
    """Extract in batches and in order: in worker processes, or in this process if `limits` is None."""
    outcomes = extract_each(documents, limits)
    return iter(lambda: list(islice(outcomes, _BATCH)), [])


def extract_each(
    documents: Iterator[SourceDocument], limits: SandboxLimits | None
) -> Iterator[tuple[SourceDocument, Page | Failure]]:
    """Extract as `extract_all` does, one by one."""
    return _in_sandbox(documents, limits) if limits else ((d, extract_document(d)) for d in documents)


def _in_sandbox(
    documents: Iterator[SourceDocument], limits: SandboxLimits
) -> Iterator[tuple[SourceDocument, Page | Failure]]:
    first = next(documents, None)
    if first is None:
        return
    running: deque[tuple[SourceDocument, Future[Page]]] = deque()
    running_bytes = 0
    with _sandbox_in_thread(limits) as submit:
        document: SourceDocument | None = first
        while document or running:
            if document:
                running.append((document, submit(document)))
                running_bytes += len(document.body)
                document = next(documents, None)
            full = not document or len(running) >= _AHEAD or running_bytes >= _AHEAD_BYTES
            while running and (full or running[0][1].done()):
                full = False
                done, future = running.popleft()
                running_bytes -= len(done.body)
                yield done, _outcome(done, future)


Submit = Callable[[SourceDocument], "Future[Page]"]


@contextmanager
def _sandbox_in_thread(limits: SandboxLimits) -> Iterator[Submit]:
    """Open a sandbox with its own event loop, in a thread that Ctrl-C does not reach.

    It is a daemon thread: whatever interrupts the main thread, the process and its workers can end.
    """
    opened: Future[tuple[asyncio.AbstractEventLoop, _Reader]] = Future()

    async def hold() -> None:
        async with Sandbox(limits) as sandbox:
            reader = _Reader(sandbox)
            opened.set_result((asyncio.get_running_loop(), reader))
            await reader.over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(hold()), name="extraction", daemon=True)
    thread.start()
    loop, reader = opened.result()

    def submit(document: SourceDocument) -> Future[Page]:
        future: Future[Page] = Future()
        # Not run_coroutine_threadsafe: Ctrl-C could arrive before the coroutine is awaited.
        loop.call_soon_threadsafe(reader.start, document, future)
        return future

    try:
        yield submit
    finally:
        loop.call_soon_threadsafe(reader.over.set)
        thread.join()


class _Reader:
    """Extracts documents for another thread. Its methods run in the event loop's thread."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.over = asyncio.Event()
        self._sandbox = sandbox
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, document: SourceDocument, future: Future[Page]) -> None:
        """Start extracting a document; its page or error goes to `future`."""
        task = asyncio.create_task(self._read(document, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self, document: SourceDocument, future: Future[Page]) -> None:
        try:
            page = await self._sandbox.extract(
                document.body, document.url, document.content_type, document.title
            )
        except Exception as error:  # noqa: BLE001 - raised by `future.result()`
            future.set_exception(error)
        else:
            future.set_result(page)


def _outcome(document: SourceDocument, future: Future[Page]) -> Page | Failure:
    try:
        return future.result()
    except ExtractionError as error:
        return _failure(document, error)


def _failure(document: SourceDocument, error: ExtractionError) -> Failure:
    return Failure(document.url, error.message, "extract")
