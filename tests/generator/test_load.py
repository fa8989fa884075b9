"""What a generator's name stands for, and what is said where it stands for nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.core.errors import ModelError, UnknownModelError
from citewell.core.settings import GeneratorSettings
from citewell.core.types import Reference
from citewell.generator.defaults import GenerationDefaults, read_defaults, write_defaults
from citewell.generator.extractive import ExtractiveGenerator
from citewell.generator.load import load_local, open_client, open_generator
from citewell.generator.prompt import PromptForm
from citewell.generator.refusal import REFUSAL
from citewell.generator.remote import OpenAiGenerator
from citewell.generator.resolve import ADAPTERS, resolve, shipped
from citewell.retriever.parts import parts

from .tiny import write_tiny

SMOLLM2 = "SmolLM2-135M-Instruct"


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.zeros(len(texts), dtype=np.float32)


def adapter(folder: Path, base: Any) -> Path:
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
    return folder


def test_a_packaged_model_runs_on_openvino() -> None:
    found = resolve(SMOLLM2)
    assert (found.base, found.is_gguf, found.adapter) == (SMOLLM2, True, None)


def test_a_hub_id_and_a_folder_run_on_transformers(tmp_path: Path) -> None:
    assert resolve("Qwen/Qwen3-0.6B").is_gguf is False
    assert resolve(str(write_tiny(tmp_path))).is_gguf is False


def test_an_adapter_runs_where_its_base_does(tmp_path: Path) -> None:
    found = resolve(str(adapter(tmp_path / "packaged", SMOLLM2)))
    assert (found.base, found.is_gguf, found.adapter) == (SMOLLM2, True, tmp_path / "packaged")
    found = resolve(str(adapter(tmp_path / "hub", "Qwen/Qwen3-0.6B")))
    assert (found.base, found.is_gguf) == ("Qwen/Qwen3-0.6B", False)


def test_the_adapter_that_a_model_judges_with(tmp_path: Path) -> None:
    assert resolve(SMOLLM2).judge is None
    assert resolve(SMOLLM2, str(tmp_path)).judge == tmp_path
    with pytest.raises(
        ModelError, match=r"Qwen3-0\.6B is not a GGUF model, and cannot judge with the adapter"
    ):
        resolve("Qwen/Qwen3-0.6B", str(tmp_path))


@pytest.mark.parametrize("base", [None, "", 7])
def test_an_adapter_without_a_base(base: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not say what its base model is"):
        resolve(str(adapter(tmp_path / "adapter", base)))


def test_shipped_adapters_have_a_base_and_a_folder() -> None:
    for name in shipped():
        found = resolve(name)
        assert (found.base, found.adapter) == (SMOLLM2, ADAPTERS / name)


@pytest.mark.parametrize("name", ["no-such-model", "", "../adapters", "/nowhere/model.gguf"])
def test_a_name_that_no_model_has(name: str) -> None:
    with pytest.raises(ModelError):
        resolve(name)


def test_the_manner_of_a_model_is_kept_beside_it(tmp_path: Path) -> None:
    assert read_defaults(tmp_path) == GenerationDefaults()
    defaults = GenerationDefaults(PromptForm(demonstration=False, question_first=True), 0.25)
    write_defaults(defaults, tmp_path)
    assert read_defaults(tmp_path) == defaults
    assert resolve(str(adapter(tmp_path / "adapter", SMOLLM2))).defaults == GenerationDefaults()
    write_defaults(defaults, tmp_path / "adapter")
    assert resolve(str(tmp_path / "adapter")).defaults == defaults


@pytest.mark.parametrize("text", ["{", "[]", '{"demonstrations": true}', '{"frequency_penalty": "much"}'])
def test_a_damaged_file_of_defaults(text: str, tmp_path: Path) -> None:
    (tmp_path / "citewell.json").write_text(text)
    with pytest.raises(ModelError, match=r"citewell\.json cannot be read") as caught:
        read_defaults(tmp_path)
    assert "frequency_penalty" in caught.value.hint


async def test_a_generator_of_each_kind(tmp_path: Path) -> None:
    extractive = GeneratorSettings(name="extractive")
    async with open_generator(extractive, tmp_path, threads=1, relevance=relevance, split=parts) as found:
        assert isinstance(found, ExtractiveGenerator)
    wanted = GeneratorSettings(name="openai:gpt-4.1-mini")
    async with open_generator(
        wanted, tmp_path, threads=1, relevance=relevance, split=parts, environment={}
    ) as found:
        assert isinstance(found, OpenAiGenerator)
        assert found.name == "openai:gpt-4.1-mini"


def test_the_settings_override_the_models_defaults(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "model", positions=2048)
    write_defaults(GenerationDefaults(PromptForm(demonstration=False)), folder)

    def prompt(**options: Any) -> str:
        settings = GeneratorSettings(name=str(folder), **options)
        return load_local(settings, tmp_path, threads=1).prompt_text("Why?", [])

    assert "bread" not in prompt(prompt_tokens=1900)
    assert "bread" in prompt(prompt_tokens=1900, demonstration=True)


def test_a_changed_form_keeps_the_rest_of_the_models_form(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "model", positions=2048)
    write_defaults(GenerationDefaults(PromptForm("Be brief.", demonstration=False)), folder)
    wanted = GeneratorSettings(name=str(folder))
    one = load_local(wanted, tmp_path, threads=1, form={"question_first": True})
    prompt = one.prompt_text("Why do crows sing?", [Reference(1, "https://a.example", "", "Crows.", 1.0)])
    assert "Be brief." in prompt
    assert prompt.index("Why do crows sing?") < prompt.index("Crows.")


async def test_a_setting_says_how_likely_a_refusal_must_be(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "model", positions=4096)

    async def written(least: float) -> str:
        settings = GeneratorSettings(name=str(folder), answer_tokens=16, refusal=least)
        one = load_local(settings, tmp_path, threads=1)
        return "".join([token.text async for token in one.generate("Why?", [], 1)])

    assert await written(1e-300) == REFUSAL
    assert await written(1.0) != REFUSAL


def test_a_service_without_a_model() -> None:
    with pytest.raises(UnknownModelError, match="names no model"):
        open_client(GeneratorSettings(name="openai:"), {})
