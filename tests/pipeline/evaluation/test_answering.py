"""How many answers of an evaluation are written together."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import ModelError
from citewell.core.settings import load_settings
from citewell.core.weights import locate
from citewell.pipeline.evaluation.answering import together
from tests.generator.tiny import write_tiny


def at_once(name: str) -> int:
    return together(load_settings({"generator.name": name, "generator.concurrency": 5}))


def test_as_many_as_a_service_or_a_local_model_takes() -> None:
    assert at_once("openai:model") == 5
    assert at_once("SmolLM2-135M-Instruct") == 5
    assert at_once(str(locate("SmolLM2-135M-Instruct").path)) == 5
    assert at_once("citewell-smollm2") == 5


def test_one_by_a_generator_that_works_on_one_at_a_time(tmp_path: Path) -> None:
    assert at_once("extractive") == 1
    assert at_once(str(write_tiny(tmp_path))) == 1
    with pytest.raises(ModelError):
        at_once("nobody")
