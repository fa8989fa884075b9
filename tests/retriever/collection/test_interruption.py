"""Runs that are killed, interrupted or started twice: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.core.types import Page, Passage
from citewell.retriever.collection.index import SearchIndex

if TYPE_CHECKING:
    from conftest import Library

PAGES = 1500
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [{"url": f"https://a.example/{n}", "text": f"Page unique{n:04}."} for n in range(PAGES)]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "pages.jsonl"


@pytest.fixture
def start(library: Library, command: Callable[..., list[str]], environment: dict[str, str]) -> Start:
    def run(source: Path, seconds_a_batch: float = 0) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command("index_slowly.py", library.place, source, seconds_a_batch),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return run


def wait_until_seen(process: subprocess.Popen[str], number: int) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("seen") and int(line.split()[1]) >= number:
            return
    raise AssertionError(f"the run ended early: {process.stderr and process.stderr.read()}")


def finish(process: subprocess.Popen[str]) -> dict[str, int]:
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    names = ("added", "changed", "unchanged", "removed", "failures")
    return dict(zip(names, map(int, output.splitlines()[-1].split()[1:]), strict=True))


async def assert_complete(library: Library) -> None:
    assert library.open().store.count() == PAGES
    assert library.indexed_passages() == library.stored_passages() == PAGES
    for n in (0, PAGES // 2, PAGES - 1):
        assert await library.search(f"unique{n:04}") == [f"https://a.example/{n}"]


@pytest.mark.parametrize("seen", [128, 1088], ids=["before the first commit", "after the first commit"])
async def test_a_killed_run_is_completed_by_the_next(
    library: Library, source: Path, start: Start, seen: int
) -> None:
    process = start(source, 0.1)
    wait_until_seen(process, seen)
    process.kill()
    process.communicate(timeout=60)  # ends when the last worker has let go of the pipes
    report = finish(start(source))
    assert seen <= report["unchanged"] < PAGES
    assert report["added"] == PAGES - report["unchanged"]
    await assert_complete(library)


async def test_ctrl_c_keeps_what_was_read_and_leaves_no_noise(
    library: Library, source: Path, start: Start
) -> None:
    process = start(source, 0.1)
    wait_until_seen(process, 256)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    stored = library.open().store.count()
    assert 256 <= stored < PAGES
    assert library.indexed_passages() == stored
    assert finish(start(source)) == {
        "added": PAGES - stored,
        "changed": 0,
        "unchanged": stored,
        "removed": 0,
        "failures": 0,
    }
    await assert_complete(library)


def test_ctrl_c_while_the_index_is_written(tmp_path: Path) -> None:
    """What is interrupted is undone, and the commit that follows is not locked out."""
    pages = [Page(url, "T", (Passage(url, "T", f"About zyzzyva {url}."),)) for url in "abc"]

    def interrupted() -> Iterator[tuple[Page, bool]]:
        yield pages[0], False
        raise KeyboardInterrupt

    index = SearchIndex(tmp_path / "index")
    with pytest.raises(KeyboardInterrupt) as interruption:
        index.update(interrupted())
    index.update((page, False) for page in pages[1:])
    assert sorted(hit.url for hit in index.search("zyzzyva", 5)) == ["b", "c"]
    assert interruption.tb  # as alive as it is while an `__exit__` runs


@pytest.mark.parametrize("seconds", [0.05, 0.25])
def test_ctrl_c_while_the_workers_start(source: Path, start: Start, seconds: float) -> None:
    process = start(source, 0.2)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")


async def test_the_second_of_two_runs_waits(
    library: Library, tmp_path: Path, source: Path, start: Start
) -> None:
    (tmp_path / "more.jsonl").write_text(
        '{"url": "https://a.example/more", "text": "Another page, zyzzyva."}'
    )
    first = start(source, 0.2)
    wait_until_seen(first, 64)
    second = start(tmp_path / "more.jsonl")
    output, errors = second.communicate(timeout=60)
    first.wait(timeout=2)  # it had finished its pages, and needs a moment to end
    assert (second.returncode, errors) == (0, "")
    assert output.splitlines() == ["ready", "waiting", "seen 1", "seen 1", "done 1 0 0 0 0"]
    assert finish(first)["added"] == PAGES
    assert library.open().store.count() == PAGES + 1
    assert library.indexed_passages() == PAGES + 1
    assert await library.search("zyzzyva") == ["https://a.example/more"]


async def test_runs_at_the_same_moment_all_count(library: Library, tmp_path: Path, start: Start) -> None:
    processes = []
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"url": name, "text": f"About zyzzyva {name}."}))
        processes.append(start(tmp_path / f"{name}.jsonl"))
    assert [finish(process)["added"] for process in processes] == [1, 1, 1]
    assert sorted(await library.search("zyzzyva")) == ["a", "b", "c"]
