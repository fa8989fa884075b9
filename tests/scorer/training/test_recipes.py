"""The scorer's recipes that come with Citewell can be read"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.scorer.training.config import ObjectiveConfig, load_config

ROOT = Path(__file__).parents[3]
RECIPES = [
    *(ROOT / "recipes").glob("reward-*.toml"),
    *sorted((ROOT / "recipes").glob("scorer-*.toml")),
    ROOT / "recipes" / "citewell-scorer.toml",
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_can_be_read(recipe: Path) -> None:
    assert load_config(recipe).measured


def test_what_is_shipped_learns_only_from_what_may_be_passed_on() -> None:
    files = {file for source in load_config(RECIPES[-1]).data for file in source.files}
    assert files == {"preferences/hh_helpful.jsonl.gz"}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda file: file.stem)
def test_comparisons_without_a_license_are_not_kept(recipe: Path) -> None:
    config = load_config(recipe)
    assert all("none" not in source.license for source in config.data) or config.training.pinned == 0


def test_the_formulations_differ_in_nothing_else() -> None:
    plain = load_config(ROOT / "recipes" / "scorer-votes.toml")
    for name in ("classification", "regression"):
        other = load_config(ROOT / "recipes" / f"scorer-{name}.toml")
        assert other == plain.model_copy(update={"objective": ObjectiveConfig(formulation=name)})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[training]\npatience = 2\n[split]\ndev = 0.0", "patience needs dev data"),
        ("[model]\nfrozen = 1.0", "no layer has adapters"),
        ("[model.layout]\nmax_tokens = 64\nquestion_tokens = 60", "no room for answers"),
        ("[objective]\nformulation = 'guess'", "formulation"),
        ("[objective]\nformulation = 'regression'\nlength_penalty = 1.0", "length_penalty needs"),
        ("[training]\nlearning_rat = 1", "there is no key training.learning_rat"),
    ],
)
def test_a_recipe_that_cannot_be(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    data = {"name": "a", "files": ["a.jsonl"], "license": "CC0"}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in data.items())
    file.write_text(f"[[data]]\n{lines}\n{text}\n")
    with pytest.raises(InputError, match=problem):
        load_config(file)
