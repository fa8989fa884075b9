"""What was accepted is there, whatever becomes of the process and however many write at once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from citewell.server.store.database import ServiceStore, open_store

from .samples import answer, feedback, job

if TYPE_CHECKING:
    from .conftest import Program


async def test_accepted_feedback_survives_a_kill(url: str, program: Program) -> None:
    process = program("writer.py", url, 8, 100_000, "work")
    assert process.stdout is not None
    accepted = [(await asyncio.to_thread(process.stdout.readline)).strip() for _ in range(100)]
    process.kill()
    accepted += process.stdout.read().split("\n")[:-1]
    process.wait()
    async with open_store(url) as store:
        stored = {each.id async for each in store.feedback.each()}
        assert len(accepted) >= 100
        assert set(accepted) <= stored
        # What the process was at, nobody waits for.
        interrupted, broken = await store.jobs.get("work"), await store.answers.get("work")
        assert interrupted is not None
        assert (interrupted.status, interrupted.done) == ("interrupted", 3)
        assert broken is not None
        assert broken.status == "failed"
        assert broken.problem is not None
        assert broken.problem["title"] == "Interrupted"
        await store.feedback.add(feedback())


async def test_what_runs_in_a_living_process_is_left_running(url: str, program: Program) -> None:
    process = program("writer.py", url, 1, 100_000, "work")
    assert process.stdout is not None
    await asyncio.to_thread(process.stdout.readline)
    async with open_store(url) as store:
        await store.jobs.add(mine := job())
        await store.answers.add(own := answer())
        async with open_store(url) as another:
            for stored in (
                await another.jobs.get("work"),
                await another.jobs.get(mine.id),
                await another.answers.get("work"),
                await another.answers.get(own.id),
            ):
                assert stored is not None
                assert stored.status == "running"


async def test_an_open_store_does_not_wait_for_a_process_that_died(
    store: ServiceStore, url: str, program: Program
) -> None:
    process = program("writer.py", url, 1, 100_000, "work")
    assert process.stdout is not None
    await asyncio.to_thread(process.stdout.readline)
    process.kill()
    process.wait()
    interrupted, broken = await store.jobs.get("work"), await store.answers.get("work")
    assert interrupted is not None
    assert broken is not None
    assert (interrupted.status, broken.status) == ("interrupted", "failed")


async def test_many_writers_at_once(url: str, program: Program) -> None:
    processes = [program("writer.py", url, 10, 20) for _ in range(3)]
    async with open_store(url) as store:
        own = [feedback() for _ in range(100)]
        await asyncio.gather(*map(store.feedback.add, own))
        accepted = {each.id for each in own}
        for process in processes:
            printed, _ = await asyncio.to_thread(process.communicate)
            assert process.returncode == 0
            accepted |= set(printed.split())
        assert len(accepted) == 100 + 3 * 10 * 20
        assert {each.id async for each in store.feedback.each()} == accepted


async def test_what_a_cancelled_caller_began_is_ended(url: str) -> None:
    async with open_store(url) as store:
        tasks = [asyncio.create_task(store.feedback.add(feedback())) for _ in range(50)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(result is None for result in results[1::2])
        assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
        await store.feedback.add(feedback())
    async with open_store(url) as store:
        assert len([each async for each in store.feedback.each()]) == 51


async def test_what_was_not_heard_of_for_an_hour_is_not_waited_for(store: ServiceStore) -> None:
    """Its process may have run on a computer that is no more."""
    long_ago = datetime.now(UTC) - timedelta(hours=1, minutes=1)
    await store.jobs.add(silent := job(updated=long_ago))
    await store.answers.add(lost := answer(created=long_ago))
    stored, failed = await store.jobs.get(silent.id), await store.answers.get(lost.id)
    assert stored is not None
    assert failed is not None
    assert (stored.status, failed.status) == ("interrupted", "failed")
    assert failed.problem is not None
    await store.jobs.update(silent.id, done=1)  # it lives after all
    assert (await store.jobs.page(1))[0].status == "running"
    await store.answers.finish(lost.id, body={}, problem=None, status="done", seconds=4_000.0)
    assert (await store.answers.page(None, 1))[0].status == "done"
