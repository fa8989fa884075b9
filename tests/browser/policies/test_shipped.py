"""The policy that comes with Citewell: small, found by its name, and able to begin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.browser.commands import Search, parse
from citewell.browser.environment import Browser
from citewell.browser.policies.opening import ADAPTERS, open_policy, policy_folder
from citewell.core.errors import WeightsMissingError
from citewell.core.settings import load_settings
from tests.browser.pages import Shelf

NAME = "citewell-browser"
QUESTION = "How do bats find their way in the dark?"


def test_it_is_found_by_its_name_and_is_small() -> None:
    folder = policy_folder(NAME)
    assert folder == ADAPTERS / NAME
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20_000_000
    licenses = [each["license"] for each in json.loads((folder / "training.json").read_text())["data"]]
    assert all("CC BY-SA" in stated for stated in licenses)


async def test_it_searches_for_the_question_first(cache: Path) -> None:
    settings = load_settings({"cache_dir": cache})
    opening = open_policy(NAME, settings, relevance=lambda question, texts: [0.0] * len(texts))
    try:
        async with opening as opened:
            assert opened.limits is not None
            browser = Browser(Shelf(), opened.limits, opened.count)
            action = await opened.policy.act(await browser.reset(QUESTION))
    except WeightsMissingError as error:
        pytest.skip(error.message)
    command = parse(action.text)
    assert isinstance(command, Search)
    assert "bats" in command.query
    assert 0 < action.tokens < 64
