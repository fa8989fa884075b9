from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from citewell.bootstrap.config import BootstrapConfig, TeacherPromptConfig
from citewell.bootstrap.induce import candidates, clean, compare_instructions, propose
from citewell.bootstrap.row import RowParts
from citewell.bootstrap.types import BootstrapTask
from citewell.core.errors import InputError
from citewell.generator.prompt import INSTRUCTION, Message
from tests.bootstrap.teaching import GOOD, completion, messages_of, service, task, taught_by

CITE = "Answer the question and cite each reference that you use."


@pytest.mark.parametrize(
    ("answer", "instruction"),
    [
        (f'The instruction was: "{CITE}"', CITE),
        (f"Instruction: {CITE}\n\nI hope that helps!", CITE),
        (f"The instruction was:\n\n**{CITE}**", CITE),
        ("Answer the question\nand cite.", "Answer the question and cite."),
        ("  \n\n", ""),
        ("word " * 200, ""),
    ],
)
def test_the_instruction_is_read_from_an_answer(answer: str, instruction: str) -> None:
    assert clean(answer) == instruction


async def test_proposals_see_different_demonstrations_and_each_counts_once() -> None:
    asked: list[tuple[str, int]] = []

    async def ask(messages: Sequence[Message], number: int) -> str:
        asked.append((messages[0]["content"], number))
        return CITE if number < 2 else ["", "Cite."][number % 2]

    demonstrations = [task(number, GOOD) for number in range(1, 6)]
    assert await propose(demonstrations, ask, 4) == (CITE, "Cite.")
    assert [number for _, number in asked] == [0, 1, 2, 3]
    assert len({content for content, _ in asked}) == 4
    first = asked[0][0]
    assert "tide number 1?" in first
    assert GOOD in first
    assert "tide number 4?" not in first


@pytest.mark.parametrize(
    ("demonstrations", "problem"),
    [([], "no demonstration"), ([task(3)], "line 3 has no references or no answer")],
)
async def test_demonstrations_that_show_nothing_are_refused(
    demonstrations: list[BootstrapTask], problem: str
) -> None:
    async def ask(messages: Sequence[Message], number: int) -> str:
        raise AssertionError("nothing is asked")

    with pytest.raises(InputError, match=problem):
        await propose(demonstrations, ask, 1)


def test_webglms_instruction_is_the_baseline_and_none_is_tried_twice() -> None:
    assert candidates(("A", INSTRUCTION, "B"), ("B", "C")) == (INSTRUCTION, "B", "C", "A")


async def test_instructions_are_compared_on_the_same_questions_through_the_row() -> None:
    async def answer(request: web.Request) -> web.Response:
        messages = await messages_of(request)
        good = messages[0]["content"] == CITE or "number 1?" in messages[-1]["content"]
        return web.json_response(completion(GOOD if good else "I know nothing of that, sorry."))

    tasks = [task(number) for number in range(1, 7)]
    told: list[str] = []
    async with service(answer) as url:

        @asynccontextmanager
        async def open_parts(url: str, instruction: str) -> AsyncIterator[RowParts]:
            async with taught_by(
                url, BootstrapConfig(prompt=TeacherPromptConfig(instruction=instruction))
            ) as parts:
                yield parts

        found = await compare_instructions(
            [INSTRUCTION, CITE], tasks, functools.partial(open_parts, url), 2, told.append
        )
    assert [trial.instruction for trial in found.trials] == [CITE, INSTRUCTION]
    assert [trial.share for trial in found.trials] == [1.0, 1 / 6]
    assert found.trials[0].coverage == 1.0
    assert found.comparisons[CITE].difference == pytest.approx(5 / 6)
    assert len(told) == 2
    assert f"| {CITE} | 100.0% | 1.000 | 1.000 |" in found.table()
    assert f"| {INSTRUCTION} (baseline) | 16.7% |" in found.table()
    assert found.to_json()["best"] == CITE
