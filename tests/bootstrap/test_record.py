"""Rows at the same time, stored in order, until nothing works any more."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
from msgspec.structs import replace

from citewell.bootstrap.ahead import Ahead
from citewell.bootstrap.engine import local_outcomes
from citewell.bootstrap.journal import Journal
from citewell.bootstrap.record import GaveUpError, record, record_again
from citewell.bootstrap.teacher import TeacherAnswer
from citewell.bootstrap.types import BootstrapTask, Fault, Outcome, TeacherUsage
from citewell.core.errors import CitewellError, InputError
from citewell.core.types import Reference
from tests.bootstrap.outcomes import fault, sample
from tests.bootstrap.teaching import GOOD, parts, task


async def given(*outcomes: Outcome) -> AsyncGenerator[Outcome, None]:
    for outcome in outcomes:
        yield outcome


async def stored(folder: Path, *outcomes: Outcome, faults: int = 3) -> list[str]:
    journal = Journal(folder, 100)
    seen: list[Outcome] = []
    try:
        await record(given(*outcomes), journal, faults, seen.extend)
    finally:
        assert seen == list(journal.outcomes())[-len(seen) :] or not seen
    return [outcome.key for outcome in journal.outcomes()]


async def test_everything_is_stored_in_order(tmp_path: Path) -> None:
    outcomes = [fault("a"), sample("b", "?"), fault("c"), fault("d"), sample("e", "?"), fault("f")]
    assert await stored(tmp_path, *outcomes) == list("abcdef")


async def test_faults_in_a_row_end_the_run_and_are_left_for_the_next(tmp_path: Path) -> None:
    with pytest.raises(GaveUpError, match="3 consecutive rows failed"):
        await stored(
            tmp_path, fault("a"), sample("b", "?"), fault("c"), fault("d"), fault("e"), sample("f", "?")
        )
    assert [outcome.key for outcome in Journal(tmp_path, 100).outcomes()] == ["a", "b"]


async def test_a_run_in_which_nothing_worked_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GaveUpError, match="The only row failed"):
        await stored(tmp_path, fault("a"))
    assert not Journal(tmp_path, 100).shards()


async def test_an_error_of_the_engine_comes_through_after_what_came_before_is_stored(tmp_path: Path) -> None:
    async def breaking() -> AsyncGenerator[Outcome, None]:
        yield sample("a", "?")
        raise CitewellError("The cluster is gone.")

    with pytest.raises(CitewellError, match="The cluster is gone"):
        await record(breaking(), Journal(tmp_path, 100), 3, lambda outcomes: None)
    assert [outcome.key for outcome in Journal(tmp_path, 100).outcomes()] == ["a"]


async def test_what_was_retried_is_stored_when_it_is_interrupted(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 100)
    journal.append([fault("a"), fault("b")])

    async def interrupted() -> AsyncGenerator[Outcome, None]:
        yield sample("a", "?")
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await record_again(interrupted(), journal, 3, lambda outcomes: None)
    assert [isinstance(each, Fault) for each in journal.outcomes()] == [False, True]


async def test_a_row_that_is_retried_keeps_what_it_cost_before(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 100)
    usage = TeacherUsage(requests=2, prompt_tokens=1800, answer_tokens=120, cost=0.002)
    journal.append([replace(fault(key), usage=usage) for key in "abc"])
    again = replace(fault("b"), error="Another error.", usage=usage)
    await record_again(given(sample("a", "?"), again, fault("c")), journal, 3, lambda outcomes: None)
    found = list(journal.outcomes())
    assert [each.usage.requests for each in found] == [3, 4, 2]
    assert [each.usage.prompt_tokens for each in found] == [2700, 3600, 1800]
    assert found[1] == replace(fault("b"), usage=usage + usage)


async def test_retries_that_all_fail_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 100)
    journal.append([sample("a", "?"), fault("b"), fault("c"), fault("d")])
    tried: list[str] = []

    async def failing() -> AsyncGenerator[Outcome, None]:
        for key in "bcd":
            tried.append(key)
            yield fault(key)

    with pytest.raises(GaveUpError, match="2 consecutive rows failed"):
        await record_again(failing(), journal, 2, lambda outcomes: None)
    assert tried == ["b", "c"]


async def test_a_slow_disk_holds_up_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requested, waited = threading.Event(), list[bool]()
    asyncio.get_running_loop().call_later(0.05, requested.set)
    monkeypatch.setattr("os.fsync", lambda file: waited.append(requested.wait(10)))
    assert await stored(tmp_path, sample("a", "?"), sample("b", "?")) == ["a", "b"]
    assert waited
    assert all(waited), "the loop stood still while the disk was written"


async def test_a_cancelled_run_has_stored_what_it_began_to_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, release = threading.Event(), threading.Event()

    def slow(file: int) -> None:
        writing.set()
        assert release.wait(10)

    monkeypatch.setattr("os.fsync", slow)
    journal = Journal(tmp_path, 100)
    recording = asyncio.create_task(record(given(sample("a", "?")), journal, 3, lambda outcomes: None))
    assert await asyncio.to_thread(writing.wait, 10)
    recording.cancel()
    await asyncio.sleep(0.05)
    assert not recording.done(), "the folder's lock is held until the disk is written"
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await recording
    assert [outcome.key for outcome in journal.outcomes()] == ["a"]


class Gate:
    """A teacher whose answers come when they are let through."""

    name = "gate"
    prompt_hash = ""

    def __init__(self) -> None:
        self.open: dict[str, asyncio.Event] = {}
        self.busy = self.most = 0
        self.asked: list[str] = []
        self.cancelled: list[str] = []

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        self.asked.append(task.key)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await self.open.setdefault(task.key, asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(task.key)
            raise
        finally:
            self.busy -= 1
        return TeacherAnswer(GOOD)

    def let(self, *numbers: int) -> None:
        for number in numbers:
            self.open.setdefault(f"t{number}", asyncio.Event()).set()


async def until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not happen")


async def test_rows_overtake_each_other_but_outcomes_keep_their_order() -> None:
    gate = Gate()
    gate.let(*range(2, 30))
    outcomes = local_outcomes((task(n) for n in range(1, 30)), parts(gate), 3)
    first = asyncio.create_task(anext(outcomes))
    await until(lambda: len(gate.open) == 29 and gate.busy == 1)
    await asyncio.sleep(0)
    # The first row holds back the others' outcomes, and after four times three of them, their start.
    assert not first.done()
    gate.let(1)
    keys = [(await first).key, *[outcome.key async for outcome in outcomes]]
    assert keys == [f"t{n}" for n in range(1, 30)]


async def test_only_so_many_rows_are_worked_on_at_a_time() -> None:
    gate = Gate()
    gate.let(*range(1, 50))
    outcomes = [o async for o in local_outcomes((task(n) for n in range(1, 50)), parts(gate), 4)]
    assert len(outcomes) == 49
    assert gate.most <= 4


async def test_closing_cancels_what_is_on_its_way() -> None:
    gate = Gate()
    gate.let(1)
    async with aclosing(local_outcomes((task(n) for n in range(1, 50)), parts(gate), 4)) as outcomes:
        assert (await anext(outcomes)).key == "t1"
    assert gate.busy == 0
    assert gate.cancelled


async def test_rows_that_are_finished_behind_a_slow_one_are_not_worked_on_again(tmp_path: Path) -> None:
    journal, gate = Journal(tmp_path, 100), Gate()
    ahead = Ahead(journal)
    gate.let(1, 3, 4)
    async with aclosing(local_outcomes(map(task, range(1, 9)), parts(gate), 8, ahead)) as outcomes:
        journal.append([await anext(outcomes)])
        await until(lambda: ahead.exists() and len(ahead_keys(tmp_path)) == 2)
    assert gate.cancelled == ["t2", "t5", "t6", "t7", "t8"]
    with (tmp_path / "outcomes" / "ahead.jsonl").open("ab") as file:
        file.write(b'{"outcome": "sample", "key": "t6", "ques')  # the process was killed
    again = Ahead(journal)
    again.open({outcome.key for outcome in journal.outcomes()})
    assert ahead_keys(tmp_path) == ["t3", "t4"]
    gate = Gate()
    gate.let(*range(2, 9))
    left = local_outcomes(map(task, range(2, 9)), parts(gate), 8, again)
    assert [outcome.key async for outcome in left] == [f"t{n}" for n in range(2, 9)]
    assert gate.asked == ["t2", "t5", "t6", "t7", "t8"]
    again.close()
    assert not again.exists()


async def test_failed_rows_are_not_kept(tmp_path: Path) -> None:
    ahead = Ahead(Journal(tmp_path, 100))
    ahead.keep(fault("a"))
    assert not ahead.exists()


def ahead_keys(folder: Path) -> list[str]:
    lines = (folder / "outcomes" / "ahead.jsonl").read_bytes().splitlines()
    return sorted(json.loads(line)["key"] for line in lines)


async def test_a_row_that_fails_does_not_touch_the_others() -> None:
    class Poisoned:
        name, prompt_hash = "poisoned", ""

        async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
            if task.line == 2:
                raise InputError("This one never works.")
            return TeacherAnswer(GOOD)

    outcomes = [o async for o in local_outcomes([task(1), task(2), task(3)], parts(Poisoned()), 2)]
    assert [type(o) is Fault for o in outcomes] == [False, True, False]
