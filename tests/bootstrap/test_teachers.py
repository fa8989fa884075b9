"""Teachers in this process, and teachers by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web
from numpy.typing import NDArray

from citewell.bootstrap.config import BootstrapConfig, TeacherConfig, TeacherPromptConfig
from citewell.bootstrap.row import bootstrap_row
from citewell.bootstrap.teacher import Teacher
from citewell.bootstrap.teachers.best_sample import SelfTeacher
from citewell.bootstrap.teachers.local import LocalTeacher
from citewell.bootstrap.teachers.opening import open_teacher
from citewell.bootstrap.types import Drop, Sample, TeacherUsage
from citewell.core.errors import CitewellError, InputError, ModelError
from citewell.core.events import Token
from citewell.core.settings import GeneratorSettings, load_settings
from citewell.core.types import Reference
from citewell.core.weights import locate
from tests.bootstrap.teaching import (
    GOOD,
    answering,
    completion,
    messages_of,
    parts,
    references,
    service,
    task,
)
from tests.generator.unknown_names import UNKNOWN_NAMES

SMOLLM2 = "SmolLM2-135M-Instruct"


class Writer:
    """A generator that writes the same candidates each time, in two pieces."""

    name = "writer"

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    async def generate(
        self, question: str, references: Sequence[Reference], n: int
    ) -> AsyncGenerator[Token, None]:
        for half in (0, 1):
            for candidate, text in enumerate(self._texts[:n]):
                middle = len(text) // 2
                yield Token(text[middle:] if half else text[:middle], candidate)


async def test_a_local_teacher_writes_one_answer() -> None:
    outcome = await bootstrap_row(task(), parts(LocalTeacher(Writer(GOOD, "Another."), "abc")))
    assert isinstance(outcome, Sample)
    assert (outcome.answer, outcome.teacher, outcome.prompt_hash) == (GOOD, "writer", "abc")
    assert outcome.usage.requests == 1


@pytest.mark.parametrize("several", [False, True])
async def test_questions_are_written_at_the_same_time(several: bool) -> None:
    writing = asyncio.Barrier(3)

    class Meeting(Writer):
        async def generate(
            self, question: str, references: Sequence[Reference], n: int
        ) -> AsyncGenerator[Token, None]:
            await writing.wait()
            async for token in super().generate(question, references, n):
                yield token

    local = LocalTeacher(Meeting(GOOD), "")
    teacher = SelfTeacher(local, BootstrapConfig()) if several else local
    asked = [teacher.write(task(), references()) for _ in range(3)]
    answers = await asyncio.wait_for(asyncio.gather(*asked), 60)
    assert [answer.text for answer in answers] == [GOOD] * 3


@pytest.mark.parametrize("end", [". And then it", ", since"])
async def test_a_local_answer_without_its_end_counts_as_cut(end: str) -> None:
    outcome = await bootstrap_row(task(), parts(LocalTeacher(Writer(GOOD.rstrip(".") + end), "")))
    assert isinstance(outcome, Drop)
    assert outcome.reason == "truncated"


async def test_a_generator_that_writes_nothing() -> None:
    outcome = await bootstrap_row(task(), parts(LocalTeacher(Writer(), "")))
    assert isinstance(outcome, Drop)
    assert outcome.reason == "empty"


async def test_self_takes_the_sample_that_cites_best() -> None:
    partly = GOOD.replace("two high tides and two low tides", "sailors who are fond of ships")
    local = LocalTeacher(Writer("Whales sing.", partly, GOOD, GOOD + " And so"), "")
    teacher = SelfTeacher(local, BootstrapConfig())
    assert teacher.name == "self:writer"
    best = await teacher.write(task(), references())
    assert (best.text, best.usage.requests) == (GOOD, 1)


async def test_self_asks_a_service_with_the_prompt_and_the_prices_of_the_recipe(tmp_path: Path) -> None:
    asked: list[list[dict[str, str]]] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(await messages_of(request))
        return web.json_response(completion(GOOD if len(asked) == 3 else "Whales sing."))

    config = BootstrapConfig(
        prompt=TeacherPromptConfig(instruction="Answer as a sailor would."),
        teacher=TeacherConfig(prompt_price=1.0, answer_price=10.0),
    )
    async with (
        service(handler) as url,
        open_teacher(
            "self:openai:tutor",
            config,
            GeneratorSettings(base_url=url),
            tmp_path,
            threads=1,
            relevance=relevance,
        ) as teacher,
    ):
        assert (teacher.name, bool(teacher.prompt_hash)) == ("self:openai:tutor", True)
        best = await teacher.write(task(), references())
    assert best.text == GOOD
    assert all("Answer as a sailor would." in str(messages) for messages in asked)
    assert best.usage == TeacherUsage(requests=4, prompt_tokens=4000, answer_tokens=400, cost=best.usage.cost)
    assert best.usage.cost == pytest.approx(4 * (1000 * 1.0 + 100 * 10.0) / 1_000_000)


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.ones(len(texts), dtype=np.float32)


async def opened(name: str, folder: Path, /, **settings: object) -> tuple[str, str]:
    """The name of a teacher, and what it writes."""
    wanted = GeneratorSettings.model_validate(settings)
    async with open_teacher(
        name, BootstrapConfig(), wanted, folder, threads=1, relevance=relevance
    ) as teacher:
        return teacher.name, await _text(teacher)


async def _text(teacher: Teacher) -> str:
    return (await teacher.write(task(1, "Recorded."), references())).text


async def test_teachers_by_name(tmp_path: Path) -> None:
    assert await opened("recorded", tmp_path) == ("recorded", "Recorded.")
    name, text = await opened("extractive", tmp_path)
    assert name == "extractive"
    assert "Moon" in text
    async with service(answering(GOOD)) as url:
        assert await opened("openai:tutor", tmp_path, base_url=url) == ("openai:tutor", GOOD)


@pytest.mark.parametrize("generator", ["extractive", "auto"])
async def test_self_needs_a_language_model(
    generator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))  # no writer is installed there
    with pytest.raises(InputError, match="needs a language model"):
        await opened("self", tmp_path, name=generator)


@pytest.mark.parametrize("is_file", [False, True])
async def test_a_language_model_teaches_by_name_or_file(is_file: bool) -> None:
    file = locate(SMOLLM2).path
    assert file is not None
    name = str(file) if is_file else SMOLLM2
    settings = load_settings()
    config = BootstrapConfig(teacher=TeacherConfig(answer_tokens=16))
    async with open_teacher(
        name, config, settings.generator, settings.cache_dir, threads=2, relevance=relevance
    ) as teacher:
        outcome = await bootstrap_row(task(), parts(teacher))
    assert isinstance(outcome, Sample | Drop)
    assert outcome.teacher == (file.name if is_file else SMOLLM2), "the path tells of the machine"
    assert outcome.prompt_hash
    assert len(outcome.raw_answer.split()) > 3


@pytest.mark.parametrize(
    ("name", "kind", "message", "hint"),
    [
        *UNKNOWN_NAMES,
        ("self:nobody", ModelError, "Unknown model 'nobody'", "citewell models"),
    ],
)
async def test_names_that_no_teacher_has(
    name: str,
    kind: type[CitewellError],
    message: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))
    with pytest.raises(kind, match=message) as caught:
        await opened(name, tmp_path)
    assert hint in caught.value.hint
