"""The program of a process that reads pages: `python -m citewell.retriever.extract.worker MEMORY_BYTES`.

It takes jobs from standard input and writes replies to standard output, one at a time, until the input ends.
`citewell.retriever.extract.sandbox` starts it.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from typing import BinaryIO

import msgspec

from citewell.core.errors import ExtractionError
from citewell.core.reasons import named_error
from citewell.retriever.extract.confinement import confine, ended_after, give_memory_back, memory
from citewell.retriever.extract.links import read_leads
from citewell.retriever.extract.main_text.classifier import packaged
from citewell.retriever.extract.page import ReadingOptions, extract
from citewell.retriever.extract.wire import HEADER_BYTES, ReadRequest, Reply, dump, load_job

_GRACE = 2.0  # seconds after which the worker ends a job that the parent has not ended
_RESTING_BYTES = 24_000_000  # of resident memory, beyond a new process, that are kept for the next page
_WORN_BYTES = 64_000_000
_PDF_SHARE = 0.75  # of a job's time, after which no more pages of a PDF are read


def main(memory_bytes: int) -> None:
    """Read pages until the parent closes the pipe."""
    jobs, replies = _take_streams()
    logging.disable(logging.CRITICAL)
    packaged()  # nearly all pages need it: loaded before the first, it does not count as a page's memory
    before = memory()
    confine(memory_bytes)
    worn = False
    while header := jobs.read(HEADER_BYTES):
        job = load_job(jobs.read(int.from_bytes(header)))
        with ended_after(job.seconds + _GRACE):
            reply = _answer(job, jobs.read(job.size), memory_bytes)
        # Memory that fragments and caches took is missing for the next page.
        worn = worn or memory().space - before.space > memory_bytes / 2
        reply = msgspec.structs.replace(reply, retires=reply.retires or worn)
        replies.write(_packed(reply))
        replies.flush()
        if reply.retires:
            return
        del reply
        # This comes after the reply, so that waiting pages do not wait for it.
        if memory().resident - before.resident > _RESTING_BYTES:
            give_memory_back()
            worn = memory().resident - before.resident > _WORN_BYTES


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take over the pipes of the parent and discard the output of libraries."""
    jobs = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return jobs, replies


def _answer(job: ReadRequest, body: bytes, memory_bytes: int) -> Reply:
    try:
        if job.wants == "leads":
            return Reply(leads=read_leads(body, job.url, job.content_type))
        if job.wants == "made":
            return Reply(made=_made(job, body))
        options = ReadingOptions(job.engine, job.pdf_pages, job.seconds * _PDF_SHARE)
        return Reply(extract(body, job.url, job.content_type, job.title, options))
    except ExtractionError as error:
        return Reply(reason=error.message, hint=error.hint)
    except MemoryError:
        reason, hint = too_much_memory(memory_bytes)
        return Reply(reason=reason, hint=hint, retires=True)
    except RecursionError:
        return Reply(reason="its parts are nested too deeply")
    except Exception as error:  # noqa: BLE001 - whatever a parser does about a page is said about that page
        return Reply(reason=f"it cannot be read ({named_error(error)})")


def _made(job: ReadRequest, body: bytes) -> bytes:
    module, _, name = job.reader.partition(":")
    read = getattr(importlib.import_module(module), name)
    return msgspec.msgpack.encode(read(body, job.url, job.content_type, job.options))


def too_much_memory(memory_bytes: int) -> tuple[str, str]:
    """Return the reason and the hint for a page that needs too much memory."""
    return (
        f"reading it takes more than {memory_bytes / 1e6:,.0f} MB of memory",
        "The setting extract.memory_bytes allows more.",
    )


def _packed(reply: Reply) -> bytes:
    try:
        return dump(reply)
    except UnicodeEncodeError:
        return dump(Reply(reason="its text is not valid Unicode", retires=reply.retires))


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(1)  # the parent is gone: there is no one to report to
