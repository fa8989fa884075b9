"""Indexing in the background: one job at a time, in a thread, with its progress in the store."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from citewell.core.errors import CitewellError, FetchError, InputError
from citewell.core.settings import Settings
from citewell.core.stopping import StopSignal
from citewell.pipeline.collections import catalog_of
from citewell.pipeline.dense import dense_indexing
from citewell.pipeline.refreshing import sources_to_refresh
from citewell.retriever.collection.adding import ADDED
from citewell.retriever.collection.indexing import Report, indexing
from citewell.retriever.collection.naming import check_name
from citewell.retriever.collection.sources import read_source
from citewell.retriever.fetch.urls import web_url
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.store.jobs import JobStatus, StoredJob
from citewell.server.work.documents import opened, refuse_handbook
from citewell.server.work.errors import StoppingError, explained
from citewell.server.work.filling import GivenDocuments, IndexingJob, RefreshWork, SourceWork
from citewell.server.work.public_urls import PublicUrls, public_source
from citewell.server.work.reconnecting import Reconnecting

_EVERY = 0.5  # seconds between two updates of the progress
_MAX_WAITING = 16
_SHOWN = 20  # documents named that are gone, or were not read
_STOP_SECONDS = 2.0  # for jobs to end at shutdown; a killed one loses nothing that was committed

_LOG = logging.getLogger("citewell.service")


class IndexingBusyError(CitewellError):
    """The queue of indexing jobs is full."""

    status = 429
    retry_after = 30.0

    def __init__(self) -> None:
        """Say so."""
        super().__init__(f"{_MAX_WAITING} indexing jobs are already waiting.", "Try again when one is done.")


class IndexingService:
    """An indexer of sources, one at a time, and beside them of documents that people add."""

    def __init__(self, settings: Settings, store: Reconnecting[ServiceStore]) -> None:
        # Those who may index must not reach the networks that the setting opens for questions.
        fetch = settings.fetch.model_copy(update={"allow_networks": ()})
        self._settings = settings.model_copy(update={"fetch": fetch})
        self._store = store
        # Two, so that nobody who adds a file waits for a crawl.
        self._turns = {"index": asyncio.Lock(), "add": asyncio.Lock()}
        self._jobs: dict[str, StopSignal] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def begin(self, name: str, source: str) -> StoredJob:
        """Accept a source for the collection `name`.

        Raises `InputError` for a source that must not be indexed or is empty, `IndexingBusyError`,
        `StoppingError` and `StoreError`.
        """
        self._check(name)
        address = await asyncio.to_thread(self._resolve, source)
        work = SourceWork(address, self._settings.server.sources)
        return await self._accept("index", name, {"name": name, "source": source}, work)

    async def refresh(self, name: str) -> StoredJob:
        """Accept the refresh of the collection `name`.

        Raises `InputError` if nothing of it can be read again, `NoCollectionError`, `CollectionInUseError`,
        `IndexingBusyError`, `StoppingError` and `StoreError`.
        """
        self._check(name)
        sources = await asyncio.to_thread(self._sources, name)
        root = self._settings.server.sources
        shown = ["links" if source == ADDED else public_source(source, root) for source in sources]
        work = RefreshWork(sources, root, partial(self._check_place, name))
        return await self._accept("refresh", name, {"name": name, "source": ", ".join(shown)}, work)

    async def add(self, name: str, documents: GivenDocuments) -> StoredJob:
        """Accept documents for the collection `name`; their files are deleted at the end.

        Raises `InputError`, `IndexingBusyError`, `StoppingError` and `StoreError`.
        """
        self._check(name)
        count = len(documents.given)
        source = documents.given[0].name if count == 1 else f"{count} documents"
        return await self._accept("add", name, {"name": name, "source": source}, documents)

    def _check(self, name: str) -> None:
        if self._is_stopping:
            raise StoppingError
        if len(self._jobs) >= _MAX_WAITING:
            raise IndexingBusyError
        check_name(name)
        refuse_handbook(name)

    async def _accept(
        self,
        kind: Literal["index", "refresh", "add"],
        name: str,
        arguments: dict[str, str],
        work: IndexingJob,
    ) -> StoredJob:
        now = datetime.now(UTC)
        id_, total = new_id(), len(work.documents) if work.documents is not None else None
        job = StoredJob(id_, kind, "running", 0, total, "waiting", now, now, arguments, work.documents)
        await self._store.get().jobs.add(job)
        stop = self._jobs[job.id] = StopSignal()
        task = asyncio.create_task(
            self._work(job.id, self._turns["add" if kind == "add" else "index"], name, work, stop)
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def cancel(self, job_id: str) -> None:
        """Cancel a job that is waiting or running, in any process of the service; other jobs are left alone.

        What it has indexed stays. Raises `StoreError`.
        """
        await self._store.get().jobs.update(job_id, status="cancelled", message="cancelled")
        if stop := self._jobs.pop(job_id, None):
            stop.set()

    async def close(self) -> None:
        """Stop all jobs. One that does not end within two seconds is left to the end of the process."""
        self._is_stopping = True
        for stop in self._jobs.values():
            stop.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP_SECONDS)
        for task in self._tasks:
            task.cancel()

    def _resolve(self, source: str) -> str:
        """Return the URL or path of a source."""
        if "://" in source:
            try:
                return str(web_url(source))
            except FetchError as error:
                raise InputError(f"The source cannot be indexed: {error.message}.") from None
        root = self._settings.server.sources
        if root is None:
            raise InputError(
                "Files of this computer cannot be indexed through the API.",
                "Set server.sources to a folder whose files may be indexed.",
            )
        root = root.resolve()
        try:
            path = (root / source).resolve()
            is_there = path.is_relative_to(root) and path.exists()
        except (OSError, ValueError, RuntimeError):  # too long, with a null character, or links in a circle
            is_there = False
        if not is_there:
            raise InputError(f"{source!r} does not exist in the folder of sources.")
        try:
            next(read_source(path, root), None)
        except InputError:  # it names the path on this computer
            raise InputError(f"{source!r} contains nothing to index.") from None
        return str(path)

    def _sources(self, name: str) -> list[str]:
        """Return the sources of a collection; raises `InputError` if none of them may be read again."""
        with opened(self._settings, name) as store:
            sources = sources_to_refresh(store)
        try:
            self._check_place(name, sources[0])
        except InputError:
            if not any(self._may_read(name, source) for source in sources[1:]):
                raise
        return sources

    def _may_read(self, name: str, source: str) -> bool:
        try:
            self._check_place(name, source)
        except InputError:
            return False
        return True

    def _check_place(self, name: str, source: str) -> None:
        """Raise `InputError` for a file or folder that is not in the folder of sources."""
        root = self._settings.server.sources
        if "://" not in source and (root is None or not Path(source).is_relative_to(root.resolve())):
            raise InputError(
                f"{Path(source).name} is not in the folder that the service may read (server.sources).",
                f"Refresh it on the command line: citewell index --collection {name} --refresh",
            )

    async def _work(
        self, job_id: str, turn: asyncio.Lock, name: str, work: IndexingJob, stop: StopSignal
    ) -> None:
        try:
            async with turn:
                report = Report()
                working = self._start(name, work, report, stop)
                while not working.done():
                    await asyncio.wait({working}, timeout=_EVERY)
                    if not working.done() and not await self._note(
                        job_id, "running", report.seen, "indexing", work
                    ):
                        stop.set()  # another process of the service has cancelled it
                status, message = _end(working.result(), report)
                public = PublicUrls({name: work.addresses})
                await self._note(job_id, status, report.seen, public.text(message), work)
        finally:
            self._jobs.pop(job_id, None)
            await asyncio.to_thread(work.close)

    async def _note(self, job_id: str, status: JobStatus, done: int, message: str, work: IndexingJob) -> bool:
        """Store the state of a job; return False if it was cancelled."""
        try:
            return await self._store.get().jobs.update(
                job_id, status=status, done=done, message=message, documents=work.documents
            )
        except CitewellError as error:
            _LOG.error("The progress of the job %s was not stored: %s", job_id, error)
            return True

    def _start(
        self, name: str, work: IndexingJob, report: Report, stop: StopSignal
    ) -> asyncio.Future[BaseException | None]:
        """Index in a thread that does not keep the process alive; return how it ends."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[BaseException | None] = loop.create_future()

        def run() -> None:
            outcome = None
            try:
                self._index(name, work, report, stop)
            except BaseException as error:  # noqa: BLE001 - the task that waits reports it
                outcome = error
            with suppress(RuntimeError):  # the event loop is closed if the process is ending
                loop.call_soon_threadsafe(ended.set_result, outcome)

        threading.Thread(target=run, name="indexing", daemon=True).start()
        return ended

    def _index(self, name: str, work: IndexingJob, report: Report, stop: StopSignal) -> None:
        """Index in this thread, keeping `report` up to date."""

        def on_progress(now: Report) -> None:
            vars(report).update(vars(now))
            stop.check()

        on_progress(report)
        settings = self._settings
        catalog = catalog_of(settings, name)
        is_new = catalog.version(name) is None
        try:
            with (
                indexing(catalog, name) as indexer,
                dense_indexing(
                    indexer.store, settings, dense=None, on_progress=lambda encoded: stop.check()
                ) as encode,
            ):
                found = work.fill(name, indexer, settings, on_progress, stop)
                vars(report).update(vars(found))
                encode()
        except (CitewellError, asyncio.CancelledError):
            if is_new and not report.added and catalog.version(name):
                catalog.remove(name)
            raise
        if is_new and work.documents is not None and not report.added:
            catalog.remove(name)  # a new collection without any of its documents


def _end(error: BaseException | None, report: Report) -> tuple[JobStatus, str]:
    if isinstance(error, asyncio.CancelledError):
        return "interrupted", "the service was stopped; the same request continues it"
    if error is not None and (known := explained(error)):
        return "failed", str(known)
    if error is not None:
        _LOG.error("An indexing job failed.", exc_info=error)
        return "failed", "Internal error. See the log of the service."
    numbers = f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
    skipped = f", {len(report.skipped):,} skipped" if report.skipped else ""
    unread = [(url, "gone") for url in report.gone[:_SHOWN]]
    unread += [(each.url, each.reason) for each in report.failures[:_SHOWN]]
    unread += [(each.url, each.reason) for each in report.skipped[:_SHOWN]]
    lines = "".join(f"\n{url}: {reason}" for url, reason in unread)
    return "done", f"{numbers}{report.removed:,} removed, {len(report.failures):,} failed{skipped}{lines}"
