"""Rows on many machines: the row function of the local engine, under Ray Data.

https://docs.ray.io/en/latest/data/data.html. Tasks are cut into blocks, in order; a pool of actors works on
blocks, on the rows of a block concurrently. The outcomes return to the driver in the order of the tasks, and
are stored there like those of the local engine: this makes a run resumable, since Ray Data itself forgets a
run that ended early. If an actor dies, it is restarted and its block is repeated; if the driver dies, the
next run repeats the blocks that were not stored.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing
from typing import TYPE_CHECKING, Any, cast

import msgspec
from pydantic import Field

from citewell.bootstrap.row import RowParts, bootstrap_row
from citewell.bootstrap.types import BootstrapTask, Outcome
from citewell.core.errors import CitewellError
from citewell.core.ray_cluster import RayWorkers, cluster_failed, connect

if TYPE_CHECKING:
    import pyarrow as pa

OpenParts = Callable[[], AbstractAsyncContextManager[RowParts]]
"""A function that opens the parts of rows. It is pickled, and called once in each worker, which may die
without closing them."""

_TASK = "task"
_OUTCOME = "outcome"


class RayConfig(RayWorkers):
    """The workers of the engine `ray`, and their portions of the rows."""

    block: int = Field(32, ge=1, description="Rows per block; a worker that dies loses one block.")


async def ray_outcomes(
    tasks: Sequence[BootstrapTask], open_parts: OpenParts, config: RayConfig, concurrency: int
) -> AsyncGenerator[Outcome]:
    """Yield the outcomes of tasks, in the order of the tasks.

    At most `concurrency` rows per worker run at a time. Ray is connected to, or started, unless it is running
    already, and left in the same state. Closing the generator ends the work: at once, or after the running
    blocks if Ray was running before. Raises `CitewellError` if the cluster cannot be used or a worker cannot
    open its parts.
    """
    started = await asyncio.to_thread(connect, config)
    import ray

    outcomes = _execute(tasks, open_parts, config, concurrency)
    waiting: asyncio.Future[Outcome | None] | None = None
    try:
        while True:
            waiting = asyncio.ensure_future(asyncio.to_thread(next, outcomes, None))
            # Ray cannot be interrupted while it waits: after cancellation, the thread ends below.
            outcome = await asyncio.shield(waiting)
            if outcome is None:
                return
            yield outcome
    finally:
        if started:
            # The running work of Ray Data fails now, which it would log at length.
            logging.getLogger("ray.data").setLevel(logging.CRITICAL)
            await asyncio.to_thread(ray.shutdown)
        if waiting is not None:
            await asyncio.gather(waiting, return_exceptions=True)
        outcomes.close()


def _execute(
    tasks: Sequence[BootstrapTask], open_parts: OpenParts, config: RayConfig, concurrency: int
) -> Generator[Outcome]:
    import ray.data
    from ray.data.exceptions import SystemException

    if not tasks:
        return
    rows = [{_TASK: msgspec.json.encode(task)} for task in tasks]
    blocks = math.ceil(len(rows) / config.block)
    dataset = ray.data.from_items(rows, override_num_blocks=blocks).map_batches(
        _Worker,
        fn_constructor_args=(open_parts, concurrency),
        batch_size=None,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=config.workers),
        num_cpus=config.cpus,
        num_gpus=config.gpus,
    )
    dataset.context.execution_options.preserve_order = True
    dataset.context.enable_progress_bars = False
    reading = dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0)
    try:
        # Closing it ends the running work of Ray Data.
        with closing(cast("Generator[Any]", iter(reading))) as batches:
            for batch in batches:
                for outcome in batch.column(_OUTCOME).to_pylist():
                    match msgspec.json.decode(outcome, type=Outcome | _Unopened):
                        case _Unopened(message=message, hint=hint):
                            raise CitewellError(message, hint)
                        case found:
                            yield found
    except (ray.exceptions.RayError, ray.exceptions.UserCodeException, SystemException) as error:
        raise cluster_failed(error) from error


class _Unopened(msgspec.Struct, frozen=True, tag_field="outcome", tag="unopened"):
    """The result of a block whose worker could not open its parts: the error."""

    message: str
    hint: str


class _Worker:
    """An actor with the parts of rows, which it opens when the first block arrives."""

    def __init__(self, open_parts: OpenParts, concurrency: int) -> None:
        self._open_parts = open_parts
        self._parts: RowParts | None = None
        self._opening = asyncio.Lock()
        self._open = AsyncExitStack()
        self._free = asyncio.Semaphore(concurrency)

    async def __call__(self, block: pa.Table) -> dict[str, Any]:
        """Return the outcomes of a block's tasks, in their order."""
        try:
            parts = await self._ready()
        except CitewellError as error:
            return {_OUTCOME: [msgspec.json.encode(_Unopened(error.message, error.hint))]}
        tasks = (msgspec.json.decode(task, type=BootstrapTask) for task in block.column(_TASK).to_pylist())
        outcomes = await asyncio.gather(*(self._row(task, parts) for task in tasks))
        return {_OUTCOME: [msgspec.json.encode(outcome) for outcome in outcomes]}

    async def _row(self, task: BootstrapTask, parts: RowParts) -> Outcome:
        async with self._free:
            return await bootstrap_row(task, parts)

    async def _ready(self) -> RowParts:
        async with self._opening:
            if self._parts is None:
                self._parts = await self._open.enter_async_context(self._open_parts())
            return self._parts
