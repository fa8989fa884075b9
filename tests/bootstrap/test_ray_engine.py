"""The engine `ray` on a real cluster of two nodes on this machine."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest
from aiohttp import web

from citewell.bootstrap.ray_engine import RayConfig, ray_outcomes
from citewell.bootstrap.row import bootstrap_row
from citewell.bootstrap.types import BootstrapTask, Drop, Fault, Sample
from citewell.core.errors import CitewellError
from tests.bootstrap.asked import asking, broken
from tests.bootstrap.outcomes import references
from tests.conftest import Serve

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra ray"),
    # Ray's own iterators complain when they are collected after a worker of theirs was killed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PASSAGE = "Tides rise and fall twice a day because the moon pulls the water of all the wide seas towards it."
CONFIG = RayConfig(workers=2, block=4)
TASKS = [
    BootstrapTask(
        key=f"t{n}",
        line=n,
        question=f"Why do tides rise, {n}?",
        references=references(PASSAGE, "Bread is baked."),
    )
    for n in range(1, 25)
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two nodes with a CPU each, so that one worker is on each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()
    cluster.shutdown()


class Answers:
    """The server: keeps count of who asks for what, and holds back answers until it is told not to."""

    def __init__(self, held_after: int | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self.processes: set[int] = set()
        self.busy = asyncio.Event()
        self.waiting = 0
        self.go_on = asyncio.Event()
        self._held_after = held_after

    async def answer(self, request: web.Request) -> web.Response:
        key, process = request.query["key"], int(request.query["process"])
        self.asked[key] += 1
        self.processes.add(process)
        if self._held_after is not None and self.asked.total() > self._held_after:
            if len(self.processes) > 1 and not self.busy.is_set():
                # Of this process, a block is under way for certain.
                self.waiting = process
                self.busy.set()
            await self.go_on.wait()
        number = int(key[1:])
        if number % 7 == 0:
            return web.Response(status=500)
        if number % 5 == 0:
            return web.Response(
                text="Something else altogether, which nobody asked for, and which no passage says [2]."
            )
        return web.Response(text=f"{PASSAGE} [1]")


async def test_the_rows_are_those_of_the_local_engine_though_a_worker_is_killed(
    cluster: None, serve: Serve
) -> None:
    local = Answers()
    async with asking(await serve({"/answer": local.answer})) as parts:
        expected = [await bootstrap_row(task, parts) for task in TASKS]
    assert {type(outcome) for outcome in expected} == {Sample, Drop, Fault}

    remote = Answers(held_after=10)
    address = await serve({"/answer": remote.answer})

    async def kill() -> int:
        await remote.busy.wait()
        process = psutil.Process(remote.waiting)
        process.kill()
        with suppress(psutil.NoSuchProcess):
            while process.status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0.01)
        remote.go_on.set()
        return process.pid

    killing = asyncio.create_task(kill())
    async with asyncio.timeout(300):
        found = [row async for row in ray_outcomes(TASKS, functools.partial(asking, address), CONFIG, 2)]
        killed = await killing
    assert found == expected
    assert len(remote.processes - {killed}) >= 2
    assert remote.asked.total() > local.asked.total()


async def test_closing_the_generator_ends_the_work(cluster: None, serve: Serve) -> None:
    answers = Answers()
    address = await serve({"/answer": answers.answer})
    outcomes = ray_outcomes(TASKS, functools.partial(asking, address), RayConfig(workers=1, block=1), 1)
    first = await anext(outcomes)
    assert first.key == "t1"
    await outcomes.aclose()
    assert len(answers.asked) < len(TASKS)


async def test_parts_that_cannot_be_opened_are_an_error(cluster: None) -> None:
    with pytest.raises(CitewellError, match="The model is missing") as caught:
        [outcome async for outcome in ray_outcomes(TASKS, broken, CONFIG, 1)]
    assert caught.value.hint == "Install it."


async def test_no_tasks_give_no_outcomes(cluster: None) -> None:
    assert [outcome async for outcome in ray_outcomes([], broken, CONFIG, 1)] == []


def test_ray_is_started_beside_a_cluster_of_another_program(cluster: None) -> None:
    """It is not joined: its machines may have neither Citewell nor the sources."""
    script = (
        "from citewell.core.ray_cluster import RayWorkers, connect\n"
        "connect(RayWorkers(workers=1))\n"
        "import ray\n"
        "print(ray.cluster_resources()['CPU'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "1.0\n"), done.stderr
