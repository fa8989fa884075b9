"""A judge leaves of a teacher's answer what readers of `citewell ask` would get."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.judging import AnswerJudge, open_judge
from citewell.bootstrap.recipe import read_recipe
from citewell.bootstrap.refilter import refiltered
from citewell.bootstrap.row import bootstrap_row
from citewell.bootstrap.teachers.recorded import RecordedTeacher
from citewell.bootstrap.types import Drop, Sample
from citewell.core.errors import InputError
from citewell.core.settings import load_settings
from citewell.core.training.folder import difference
from citewell.generator.causal import YesAnswer
from citewell.generator.prompt import Message
from tests.bootstrap.teaching import PASSAGES, parts, task

RECIPES = Path(__file__).parents[2] / "recipes"
FIRST = "The tides are caused by the gravity of the Moon and to a lesser degree of the Sun."
BESIDE = "On each day, most coasts of the Earth have two high tides."
INVENTED = "Most coasts have two high tides and two low tides because of the harvest."
ANSWER = f"{FIRST}[2] {BESIDE}[1] {INVENTED}[2]"


class _Model:
    """Says no where a sentence has one of the words, and yes otherwise."""

    name, concurrency = "model", 1

    def __init__(
        self, *, beside: str = "On each day", invented: str = "harvest", relevant: float = 0.9
    ) -> None:
        self._beside, self._invented, self._relevant = beside, invented, relevant

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        text = messages[-1]["content"]
        if "help to answer" in text:
            return YesAnswer(0.1 if self._beside in text else 0.9, 10)
        if "Can the question be answered" in text:
            return YesAnswer(self._relevant, 10)
        return YesAnswer(0.1 if self._invented in text else 0.9, 10)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as opened:
        yield opened


def _judged(model: _Model, runner: asyncio.Runner, **filters: float) -> Sample | Drop:
    config = BootstrapConfig.model_validate(
        {"correction": {"judge": "writer"}, "filters": {"accuracy": 0, **filters}}
    )
    written = asyncio.run(bootstrap_row(task(answer=ANSWER), parts(RecordedTeacher(), found=PASSAGES)))
    found = refiltered(written, config, judge=AnswerJudge(model, 0.5, runner))
    assert isinstance(found, Sample | Drop)
    return found


def test_it_cuts_what_does_not_help_and_what_is_not_supported(runner: asyncio.Runner) -> None:
    found = _judged(_Model(), runner)
    assert isinstance(found, Sample)
    assert found.answer == FIRST.replace("Sun.", "Sun[1].")
    assert found.raw_answer == ANSWER
    both = _judged(_Model(beside="whales"), runner)
    assert isinstance(both, Sample)
    assert both.answer.endswith(
        " of the Sun[1]. On each day, most coasts of the Earth have two high tides[2]."
    )


def test_it_drops_an_answer_without_its_first_sentence(runner: asyncio.Runner) -> None:
    found = _judged(_Model(invented="gravity"), runner)
    assert isinstance(found, Drop)
    assert found.reason == "unsupported"


def test_it_drops_what_does_not_answer(runner: asyncio.Runner) -> None:
    found = _judged(_Model(relevant=0.6), runner)
    assert isinstance(found, Drop)
    assert found.reason == "irrelevant"
    assert isinstance(_judged(_Model(relevant=0.6), runner, answers=0.5), Sample)


def test_a_run_keeps_what_filtering_it_later_would(runner: asyncio.Runner) -> None:
    judging = replace(
        parts(RecordedTeacher(), found=PASSAGES),
        config=BootstrapConfig.model_validate({"filters": {"accuracy": 0}}),
        judge=AnswerJudge(_Model(), 0.5, runner),
    )
    found = asyncio.run(bootstrap_row(task(answer=ANSWER), judging))
    assert isinstance(found, Sample)
    assert found == _judged(_Model(), runner)


def test_only_a_language_model_can_judge() -> None:
    with pytest.raises(ValidationError, match="judge"):
        BootstrapConfig.model_validate({"correction": {"judge": "nli:x"}})


def test_a_generator_that_quotes_cannot_judge() -> None:
    with (
        pytest.raises(InputError, match="Only a language model can judge"),
        open_judge("writer:extractive", load_settings(), lambda name, step: None),
    ):
        pass


def test_the_published_run_goes_on_with_its_recipe() -> None:
    stored = json.loads((RECIPES / "citewell-qa" / "run.json").read_text(encoding="utf-8"))
    recipe = read_recipe(RECIPES / "citewell-qa.toml", {})
    assert difference(stored["started_with"]["recipe"], recipe.decisive()) == ""
