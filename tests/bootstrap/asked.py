"""A teacher that asks a server of the test, for workers in other processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.references import FoundReferences
from citewell.bootstrap.row import RowParts
from citewell.bootstrap.teacher import TeacherAnswer
from citewell.bootstrap.types import BootstrapTask
from citewell.core.errors import CitewellError
from citewell.core.types import Reference


class AskingTeacher:
    """Gets the answer to a task from a server, and tells it which process is asking."""

    name = "asking"
    prompt_hash = "1"

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session = session
        self._address = address

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        where = {"key": task.key, "process": str(os.getpid())}
        async with self._session.get(f"{self._address}/answer", params=where) as response:
            if response.status != 200:
                raise CitewellError("The teacher did not answer.")
            return TeacherAnswer(await response.text())


async def nothing(question: str) -> FoundReferences:
    return FoundReferences((), False)


@asynccontextmanager
async def asking(address: str) -> AsyncIterator[RowParts]:
    async with aiohttp.ClientSession() as session:
        yield RowParts(AskingTeacher(session, address), nothing, BootstrapConfig())


@asynccontextmanager
async def broken() -> AsyncIterator[RowParts]:
    raise CitewellError("The model is missing.", "Install it.")
    yield
