"""A store in a real SQLite file and in a real PostgreSQL database, and programs that use one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from citewell.server.store.database import ServiceStore, open_store
from tests.nursery import PIPE, Forked, Nursery

Program = Callable[..., Forked]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "citewell.sqlite3"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("database"))
    return f"sqlite:///{request.getfixturevalue('file')}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[ServiceStore]:
    async with open_store(url) as store:
        yield store


@pytest.fixture
def program(nursery: Nursery) -> Iterator[Program]:
    """Start one of this folder's scripts in a process of its own, with pipes to it."""
    folder = Path(__file__).parent
    processes = []

    def start(script: str, *arguments: object) -> Forked:
        path = str(folder / script)
        process = nursery.start(path, *arguments, env=os.environ, cwd=folder, stdin=PIPE, stderr=None)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.close()
