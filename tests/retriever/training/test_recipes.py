"""The retriever's recipes that come with Citewell can be read"""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.retriever.training.config import load_config

ROOT = Path(__file__).parents[3]
RECIPES = sorted(file for file in (ROOT / "recipes").glob("*.toml") if "[[objectives]]" in file.read_text())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_can_be_read(recipe: Path) -> None:
    config = load_config(recipe)
    assert all(source.license for source in (*config.data, *config.dev))
