"""Reading of pages in worker processes, each page within limits of time and memory.

A hostile page can make a parser loop, crash or take all memory. Here it harms only a disposable process, and
the failure is reported like that of any other page that cannot be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import msgspec
from msgspec import structs

from citewell.core.errors import ExtractionError
from citewell.core.types import Page
from citewell.retriever.extract.links import Leads
from citewell.retriever.extract.page import Engine
from citewell.retriever.extract.process import WorkerEndedError, WorkerProcess
from citewell.retriever.extract.wire import ReadRequest, Reply

Made = TypeVar("Made")

_INVALID = "the process that read it sent no valid answer"
_CANCELLED_GRACE = 1.0  # seconds: most pages are read sooner than a new process has started
_SAMPLE = (
    b"<!doctype html><html><head><title>A</title></head><body><article><p>%s</p></article></body></html>"
    % (b"This sentence is read so that the next page is read at once. " * 5)
)


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of reading one page, the number of pages read at a time, and the engine for HTML."""

    workers: int = 2
    seconds: float = 20.0
    memory_bytes: int = 1_000_000_000
    """The address space a worker may add to what it has before its first page; enforced on Linux."""
    pdf_pages: int = 500
    engine: Engine = "main"


class Sandbox:
    """A pool of processes that read pages; use it as an async context manager.

    Processes are started when first needed, kept for the next page, and replaced when they end. The caller
    bounds the number and the size of waiting pages (`citewell.retriever.fetch.memory_budget`).
    """

    def __init__(self, limits: SandboxLimits | None = None) -> None:
        self._limits = limits or SandboxLimits()
        self._slots = asyncio.Semaphore(self._limits.workers)
        self._idle: list[WorkerProcess] = []
        self._running: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all processes, also those that are reading a page."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        while self._idle:
            await self._idle.pop().kill()

    def warm_up(self) -> None:
        """Start all processes in the background, so that they are ready when the first pages arrive."""
        for _ in range(self._limits.workers - len(self._idle) - len(self._running)):
            self._spawn(self._warm_one())

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        """Read a page like `citewell.retriever.extract.page.extract`, in a worker process.

        Raises `ExtractionError` in the same cases, and when reading takes too long, takes too much memory or
        ends the process. When the caller is canceled, the process has a second to finish.
        """
        page = (await self._read(self._job(body, url, content_type, title), body)).page
        assert page is not None
        # The URL is not the worker's to choose. Only passages in which it changed the URL are copied.
        passages = tuple(
            passage if passage.url == url else replace(passage, url=url) for passage in page.passages
        )
        return replace(page, url=url, passages=passages)

    async def leads(self, body: bytes, url: str, content_type: str = "") -> Leads:
        """Read a page's links like `citewell.retriever.extract.links.read_leads`, in a worker process."""
        job = structs.replace(self._job(body, url, content_type), wants="leads")
        leads = (await self._read(job, body)).leads
        assert leads is not None
        return leads

    async def read(
        self,
        reader: str,
        kind: type[Made],
        body: bytes,
        url: str,
        content_type: str = "",
        options: tuple[str, ...] = (),
    ) -> Made:
        """Call the function `module:name` on a page in a worker process.

        The function gets the body, the URL, the content type and the options. It returns a value that
        [msgspec](https://jcristharif.com/msgspec/) can pack, and unpack as `kind`. Raises `ExtractionError`
        as `extract` does, and for any exception of the function.
        """
        job = structs.replace(
            self._job(body, url, content_type), wants="made", reader=reader, options=options
        )
        made = (await self._read(job, body)).made
        assert made is not None
        try:
            return msgspec.msgpack.decode(made, type=kind)
        except msgspec.DecodeError as error:
            raise ExtractionError(_INVALID) from error

    async def _read(self, job: ReadRequest, body: bytes) -> Reply:
        await self._slots.acquire()
        exchange: asyncio.Task[Reply] = self._spawn(self._exchange(job, body))
        exchange.add_done_callback(lambda _: self._slots.release())
        try:
            reply = await asyncio.shield(exchange)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(_CANCELLED_GRACE, exchange.cancel)
            raise
        if {"page": reply.page, "leads": reply.leads, "made": reply.made}[job.wants] is None:
            raise ExtractionError(reply.reason, reply.hint)
        return reply

    def _job(self, body: bytes, url: str, content_type: str, title: str = "") -> ReadRequest:
        limits = self._limits
        texts = (_unicode(url), _unicode(content_type), _unicode(title))
        return ReadRequest(len(body), *texts, limits.seconds, limits.pdf_pages, limits.engine)

    async def _warm_one(self) -> None:
        async with self._slots:
            await self._exchange(self._job(_SAMPLE, "", "text/html"), _SAMPLE)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._settle)
        return task

    def _settle(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # a canceled caller does not retrieve it

    async def _exchange(self, job: ReadRequest, body: bytes) -> Reply:
        limits = self._limits
        worker = self._idle.pop() if self._idle else await WorkerProcess.start(limits.memory_bytes)
        try:
            async with asyncio.timeout(limits.seconds):
                reply = await worker.ask(job, body)
        except TimeoutError:
            reason = f"reading it took longer than {limits.seconds:g} s"
            hint = "The setting extract.seconds allows more."
            reply = Reply(reason=reason, hint=hint, retires=True)
        except WorkerEndedError as error:
            reply = Reply(reason=f"the process that read it {error}", retires=True)
        except msgspec.DecodeError:
            reply = Reply(reason=_INVALID, retires=True)
        except asyncio.CancelledError:
            await worker.kill()
            raise
        if reply.retires:
            await worker.kill()
        else:
            self._idle.append(worker)
        return reply


def _unicode(text: str) -> str:
    """Return `text` without lone surrogates, which file names can hold and messages cannot."""
    return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
