"""A worker process from the side of its parent: a job goes in, a reply comes out."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self, cast

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.wire import HEADER_BYTES, ReadRequest, Reply, dump, load_reply

_LARGEST_REPLY = 64_000_000  # bytes; no page that can be fetched holds as much text
_PIECE_BYTES = 65_536  # as much as a pipe holds
# The variables that Python needs. A worker must not see the others, such as API keys of search engines.
_VARIABLES = (
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "PYTHONHOME",
    "SYSTEMROOT",
)
# A worker may not start threads, and numpy's linear algebra would start one per core.
_SINGLE_THREADED = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# A worker that Ctrl-C reaches before it runs is gone before asyncio waits for it, which warns of that.
_REAPED = "will report returncode 255"
logging.getLogger("asyncio").addFilter(lambda record: _REAPED not in str(record.msg))


class WorkerEndedError(Exception):
    """A worker ended instead of answering; the message says how."""


class WorkerProcess(asyncio.SubprocessProtocol):
    """A process that runs `citewell.retriever.extract.worker`; `WorkerProcess.start` starts it.

    It has its own session, so that Ctrl-C in a terminal reaches only the parent. It ends when the parent ends
    and so closes the pipe.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._reply: asyncio.Future[bytearray] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self._asked = False
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, memory_bytes: int) -> Self:
        """Start a process that may use `memory_bytes`; raise `ExtractionError` if it cannot be started."""
        try:
            _, worker = await asyncio.get_running_loop().subprocess_exec(
                cls,
                sys.executable,
                *("-P", "-m", "citewell.retriever.extract.worker", str(memory_bytes)),
                env=_environment(),
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise ExtractionError(
                f"no process to read it in could be started: {error.strerror}",
                "There may be too little memory, or too many processes.",
            ) from error
        return worker

    async def ask(self, job: ReadRequest, body: bytes) -> Reply:
        """Let the process read a page with this body; one at a time.

        Raises `WorkerEndedError` when it ends meanwhile, and `msgspec.DecodeError` for an invalid reply.
        """
        if not self._reply.done():  # otherwise it ended while it was idle
            self._asked = True
            assert self._transport is not None
            pipe = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
            pipe.write(dump(job))
            await self._write(pipe, memoryview(body))
        packed = await self._reply
        self._asked = False
        self._reply = asyncio.get_running_loop().create_future()
        return load_reply(memoryview(packed)[HEADER_BYTES:])

    async def kill(self) -> None:
        """End the process and wait until it is gone."""
        assert self._transport is not None
        self._transport.close()
        await asyncio.shield(self._closed)  # it closes even if nothing waits for that anymore

    async def _write(self, pipe: asyncio.WriteTransport, body: memoryview) -> None:
        """Write as fast as the process reads, so that no copy of the body waits in the pipe's buffer."""
        for start in range(0, len(body), _PIECE_BYTES):
            await self._may_write.wait()
            if self._reply.done():  # the process has ended
                return
            pipe.write(body[start : start + _PIECE_BYTES])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the pipes (called by asyncio)."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pause_writing(self) -> None:
        """Wait until the process has read more (called by asyncio)."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Continue writing (called by asyncio)."""
        self._may_write.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Gather a reply (called by asyncio)."""
        if not self._asked or self._reply.done():
            self._fail("said something without being asked")
            return
        self._received += data
        if len(self._received) < HEADER_BYTES:
            return
        length = int.from_bytes(self._received[:HEADER_BYTES])
        if length > _LARGEST_REPLY or len(self._received) > HEADER_BYTES + length:
            self._fail("sent more than a page can hold")
        elif len(self._received) == HEADER_BYTES + length:
            self._reply.set_result(self._received)
            self._received = bytearray()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record how the process ended, after its last message (called by asyncio)."""
        assert self._transport is not None
        code = self._transport.get_returncode() or 0
        self._fail(
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        )
        self._closed.set_result(None)

    def _fail(self, how: str) -> None:
        self._may_write.set()
        if not self._reply.done():
            self._reply.set_exception(WorkerEndedError(how))
            self._reply.exception()  # there may be no request at this time


def _environment() -> dict[str, str]:
    environment = _SINGLE_THREADED | {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    return environment
