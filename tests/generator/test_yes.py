"""The probability of yes, in this process and over HTTP."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from aiohttp import web

from citewell.core.errors import (
    CitewellError,
    InputError,
    ModelError,
    ServiceAnswerError,
    WeightsMissingError,
)
from citewell.core.settings import GeneratorSettings, load_settings
from citewell.generator.causal import YesAnswer
from citewell.generator.load import open_yes_model
from citewell.generator.prompt import Message
from citewell.generator.yes import ask_all, yes_share
from tests.generator.chat_service import ChatService, whole, yes_or_no
from tests.generator.rounding import same
from tests.generator.tiny import write_tiny


def asked(text: str) -> list[Message]:
    return [{"role": "user", "content": f"{text} Reply Yes or No."}]


async def answer(name: str, folder: Path, url: str = "", question: str = "Is tin a metal?") -> YesAnswer:
    wanted = GeneratorSettings(name=name, **({"base_url": url} if url else {}))
    async with open_yes_model(wanted, folder, threads=1) as model:
        return await model.ask(asked(question))


def test_the_share_of_yes() -> None:
    listed = {"Yes": math.log(0.3), " yes": math.log(0.3), "No": math.log(0.2), "I": math.log(0.2)}
    assert yes_share(listed) == pytest.approx(0.75)
    assert yes_share({"No": -0.1}) == 0.0
    assert yes_share({"Maybe": -0.1}) is None


async def test_a_model_in_this_process() -> None:
    settings = load_settings({"generator.name": "SmolLM2-135M-Instruct", "generator.concurrency": 3})
    async with open_yes_model(settings.generator, settings.cache_dir, threads=1) as model:
        assert (model.name, model.concurrency) == ("SmolLM2-135M-Instruct", 3)
        first = await model.ask(asked("Is tin a metal?"))
        longer = await model.ask(asked("Tin is a metal. " * 30 + "Is tin a metal?"))
        assert await model.ask(asked("Is tin a metal?")) == first
    assert 0 < first.yes < 1
    assert 10 < first.tokens < longer.tokens - 100


async def test_questions_that_are_asked_together_have_the_same_answers() -> None:
    passage = "Tin is a soft metal that melts at 232 degrees. Bronze is copper with some tin in it. "
    questions = [asked(f"{passage}{claim}") for claim in ("Is tin soft?", "Does tin melt?", "Is bronze tin?")]
    questions += [asked("Is water wet?"), asked(f"{passage * 4}Is bronze hard?"), asked("Is fire cold?")]
    settings = load_settings({"generator.name": "SmolLM2-135M-Instruct", "generator.concurrency": 4})
    async with open_yes_model(settings.generator, settings.cache_dir, threads=1) as model:
        together = await ask_all(model, questions)
        assert same(together, [await model.ask(question) for question in questions])
    assert len({answer.yes for answer in together}) == len(questions)


async def test_an_error_of_one_question_is_the_error_of_all(tmp_path: Path) -> None:
    wanted = GeneratorSettings(name=str(write_tiny(tmp_path)))
    async with open_yes_model(wanted, tmp_path, threads=1) as model:
        with pytest.raises(ModelError, match=r"The prompt has [\d,]+ tokens"):
            await ask_all(model, [asked("Is tin a metal?"), asked("tin " * 5000), asked("Is it?")])
        assert 0 < (await model.ask(asked("Is tin a metal?"))).yes < 1


async def test_a_model_in_transformers(tmp_path: Path) -> None:
    found = await answer(str(write_tiny(tmp_path)), tmp_path)
    assert 0 < found.yes < 1
    assert found.tokens > 4


async def test_a_question_that_overflows_the_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"The prompt has [\d,]+ tokens"):
        await answer(str(write_tiny(tmp_path)), tmp_path, question="tin " * 5000)


async def test_a_model_over_http(tmp_path: Path) -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        return web.json_response(yes_or_no(0.8))

    async with ChatService([service]) as http:
        found = await answer("openai:tutor", tmp_path, http.url)
        (sent,) = http.requests
    assert found == (pytest.approx(0.8), 7)
    assert sent["model"] == "tutor"
    assert sent["messages"] == asked("Is tin a metal?")
    assert (sent["max_tokens"], sent["logprobs"], sent["top_logprobs"]) == (1, True, 20)


async def test_a_service_without_log_probabilities(tmp_path: Path) -> None:
    async def plain(request: web.Request) -> web.StreamResponse:
        return web.json_response(whole("Yes"))

    async with ChatService([plain]) as http:
        with pytest.raises(ServiceAnswerError, match="tutor gives no log probabilities"):
            await answer("openai:tutor", tmp_path, http.url)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("extractive", InputError, "extractive is not one"),
        ("nobody", ModelError, "Unknown model 'nobody'"),
        ("openai:", ModelError, "names no model"),
        ("nowhere.gguf", ModelError, "file nowhere.gguf does not exist"),
        ("qwen3-1.7b", WeightsMissingError, "are not installed"),
    ],
)
async def test_names_without_a_model(
    name: str, kind: type[CitewellError], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))
    with pytest.raises(kind, match=message) as caught:
        await answer(name, tmp_path)
    assert caught.value.hint


async def test_where_no_writer_is_installed_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))
    with pytest.raises(InputError, match="there is none here") as caught:
        await answer("auto", tmp_path)
    assert "citewell models get" in caught.value.hint
