"""Profiles: settings that belong together, by one option."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

pytestmark = pytest.mark.long

BATS = "How do bats find their way in the dark?"


def models(cli: Cli, *options: str) -> dict[str, Any]:
    environment = {
        name: value for name, value in cli.environment.items() if name != "CITEWELL_GENERATOR__NAME"
    }
    cli = replace(cli, environment=environment)
    (answer,) = cli.run("ask", BATS, "--collection", "notes", "--json", *options).objects()
    assert "echolocation" in str(answer["references"])
    return dict(answer["models"])


def test_the_parts_of_a_profile_answer(cli: Cli) -> None:
    assert (
        models(cli, "--profile", "fast").items()
        >= {
            "encoder": "citewell-minilm",
            "generator": "extractive",
            "profile": "fast",
        }.items()
    )
    used = models(cli, "--profile", "webglm", "--best-of", "2", "--set", "generator.answer_tokens=24")
    assert used["encoder"] == "citewell-minilm"
    assert (used["generator"], used["scorer"]) == ("citewell-smollm2", "citewell-scorer")


def test_webgpt_browses(cli: Cli) -> None:
    few = ("--set", "browser.actions=3", "--set", "browser.best_of=1", "--generator", "extractive")
    (answer,) = cli.run("ask", BATS, "--collection", "notes", "--json", "--profile", "webgpt", *few).objects()
    assert answer["models"]["policy"] == "citewell-browser"
    assert len(answer["episode"]["steps"]) <= 3


def test_the_doctor_checks_the_parts_of_a_profile(cli: Cli) -> None:
    rows = {row["name"]: row for row in cli.run("doctor", "--profile", "webgpt", "--json").objects()}
    assert rows["profile"]["found"] == "webgpt"
    assert "weights of SmolLM2-135M-Instruct" in rows
