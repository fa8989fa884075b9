"""The generator's recipes that come with Citewell can be read"""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.generator.training.config import load_config

ROOT = Path(__file__).parents[3]
RECIPES = sorted((ROOT / "recipes").glob("generator-*.toml")) + [ROOT / "recipes" / "citewell-smollm2.toml"]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_can_be_read(recipe: Path) -> None:
    config = load_config(recipe)
    assert all(source.license for source in (*config.data, *config.dev))


def test_the_ablations_differ_in_one_thing() -> None:
    plain = load_config(ROOT / "recipes" / "generator-rouge1.toml")
    first = load_config(ROOT / "recipes" / "generator-question-first.toml")
    three = load_config(ROOT / "recipes" / "generator-three-references.toml")
    assert plain.prompt.model_copy(update={"question_first": True}) == first.prompt
    assert plain.prompt.model_copy(update={"references": 3}) == three.prompt
    for name in ("question-first", "three-references", "rouge-l", "unfiltered"):
        other = load_config(ROOT / "recipes" / f"generator-{name}.toml")
        assert (other.model, other.training) == (plain.model, plain.training)
