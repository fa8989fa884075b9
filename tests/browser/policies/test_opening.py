"""Policies by name: a language model behind an API or in this process, which is prompted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from numpy.typing import NDArray

from citewell.browser.commands import Invalid, parse
from citewell.browser.policies.grammar import commands_grammar
from citewell.browser.policies.legal import onwards
from citewell.browser.policies.opening import open_policy
from citewell.browser.policies.prompted import prompted
from citewell.browser.state import State
from citewell.core.errors import CitewellError, ModelError
from citewell.core.settings import load_settings
from tests.generator.chat_service import ChatService, whole
from tests.generator.unknown_names import UNKNOWN_NAMES

from .states import page, results


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.ones(len(texts), dtype=np.float32)


async def written(name: str, state: State, **settings: Any) -> str:
    """The command that a policy gives in a state."""
    found = load_settings({f"generator.{key}": value for key, value in settings.items()})
    async with open_policy(name, found, relevance=relevance) as opened:
        assert opened.policy.name == name
        return (await opened.policy.act(state)).text


async def test_a_model_behind_an_api_gets_the_prompt_and_the_grammar() -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        return web.json_response(whole("Clicked on link 1\n"))

    async with ChatService([service]) as http:
        command = await written("openai:tutor", results(), base_url=http.url, grammar="grammar")
        (sent,) = http.requests
    assert command == "Clicked on link 1"
    assert (sent["model"], sent["temperature"]) == ("tutor", 0.0)
    assert sent["messages"] == prompted(results())
    assert sent["grammar"] == commands_grammar(onwards(results()))


@pytest.mark.parametrize("state", [results(), page()])
async def test_a_prompted_model_in_this_process_gives_a_valid_command(state: State) -> None:
    assert not isinstance(parse(await written("SmolLM2-135M-Instruct", state)), Invalid)


@pytest.mark.parametrize(
    ("name", "kind", "message", "hint"),
    [
        *UNKNOWN_NAMES,
        ("extractive", ModelError, "extractive is not a language model", "openai:MODEL"),
    ],
)
async def test_names_without_a_model(
    name: str,
    kind: type[CitewellError],
    message: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))
    with pytest.raises(kind, match=message) as caught:
        await written(name, results())
    assert hint in caught.value.hint
