"""The retriever's recipes that come with Citewell can be read, and the handbook lists all keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from citewell.retriever.training.config import (
    EncoderAdapterConfig,
    EncoderDataConfig,
    EncoderDevConfig,
    EncoderModelConfig,
    EncoderTrainingConfig,
    MiningConfig,
    load_config,
)

ROOT = Path(__file__).parents[3]
RECIPES = sorted(file for file in (ROOT / "recipes").glob("*.toml") if "[[objectives]]" in file.read_text())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_can_be_read(recipe: Path) -> None:
    config = load_config(recipe)
    assert all(source.licence for source in (*config.data, *config.dev))


@pytest.mark.parametrize(
    "section",
    [
        EncoderModelConfig,
        EncoderAdapterConfig,
        EncoderDataConfig,
        EncoderDevConfig,
        MiningConfig,
        EncoderTrainingConfig,
    ],
)
def test_the_handbook_lists_all_keys(section: type[BaseModel]) -> None:
    handbook = (ROOT / "docs" / "training-retriever.md").read_text(encoding="utf-8")
    for name, field in section.model_fields.items():
        if name != "lora":
            assert f"| `{name}` |" in handbook
            assert field.description is not None
            assert field.description in handbook
