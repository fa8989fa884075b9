from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

import pytest

from citewell.retriever.extract.process import WorkerProcess


async def test_a_process_whose_end_nobody_waits_for_any_more_ends_quietly() -> None:
    """As where Ctrl-C comes while processes are ended."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    worker = await WorkerProcess.start(400_000_000)
    killing = asyncio.create_task(worker.kill())
    await asyncio.sleep(0)
    killing.cancel()
    with suppress(asyncio.CancelledError):
        await killing
    assert killing.cancelled()
    await asyncio.wait_for(worker.kill(), 30)
    assert not complaints


def test_a_worker_that_was_gone_before_asyncio_waited_makes_no_noise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("asyncio")
    logger.warning("Unknown child process pid %d, will report returncode 255", 7)  # the words of asyncio
    logger.warning("Loop %r that handles pid %r is closed", "a", 7)
    assert [record.getMessage() for record in caplog.records] == ["Loop 'a' that handles pid 7 is closed"]
