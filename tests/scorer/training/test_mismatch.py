"""A scorer and a model, or a recipe, that do not belong together: refused, and nothing is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("datasets", reason="the extra `train` is not installed")

from citewell.core.errors import ModelError
from citewell.core.training.run import Run
from citewell.scorer.load import load_scorer
from citewell.scorer.training.run import train
from tests.scorer.training.made_up import write_bert, write_recipe, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with a scorer, `current`, that has a LoRA adapter."""
    folder = write_world(tmp_path_factory.mktemp("world"))
    recipe = write_recipe(folder, "recipe.toml", steps=4, warmup=0.0)
    train(Run(recipe=recipe, out=folder / "current", cache=folder / "cache", command=""), lambda line: None)
    return folder


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("depth = 2", r"its model is .*bert, all layers, lora, mean, and the recipe's .*bert, 2 layers"),
        ('tuning = "full"', "all layers, lora, mean, and the recipe's .* full, mean"),
        ('pooling = "cls"', "lora, mean, and the recipe's .* lora, cls"),
        ("[model.lora]\nrank = 2", r"The adapter in .* does not fit the recipe's: .*size mismatch"),
        ('[model.lora]\ntargets = ["query"]', "does not fit the recipe's: .* is in one of them only"),
    ],
)
def test_a_start_of_another_model_is_refused(world: Path, model: str, problem: str) -> None:
    first = {"base": str(world / "bert"), "start": str(world / "current"), "frozen": 0.5}
    text = "[model]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in first.items()) + model
    recipe = write_recipe(world, "start.toml", text)
    out = world / "never"
    shutil.rmtree(out, ignore_errors=True)
    with pytest.raises(ModelError, match=f"(?s){problem}") as raised:
        train(Run(recipe=recipe, out=out, cache=world / "cache", command=""), lambda line: None)
    assert "model" in raised.value.hint
    assert not (out / "scorer.json").exists()


def test_an_adapter_does_not_fit_a_base_of_another_size(world: Path, tmp_path: Path) -> None:
    scorer = tmp_path / "scorer"
    shutil.copytree(world / "current", scorer)
    form = json.loads((scorer / "scorer.json").read_text())
    base = write_bert(tmp_path / "wide", hidden=48)
    (scorer / "scorer.json").write_text(json.dumps(form | {"base": str(base)}))
    with pytest.raises(ModelError, match=r"The adapter .* does not fit its model: .*48"):
        load_scorer(str(scorer), tmp_path, 1)
