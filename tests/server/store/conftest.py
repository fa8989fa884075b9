"""A store in a real SQLite file and in a real PostgreSQL database, and programs that use one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

import core
from server.store.database import Store, open_store

Program = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "citewell.sqlite3"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("database"))
    return f"sqlite:///{request.getfixturevalue('file')}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    async with open_store(url) as store:
        yield store


@pytest.fixture
def program() -> Iterator[Program]:
    """Start one of this folder's scripts in a process of its own, with pipes to it."""
    root = Path(core.__file__).parents[1]
    processes = []

    def start(script: str, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(root), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()
