"""A whole run with a tiny model: it learns to judge, and an interrupted run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")

from citewell.core.errors import InputError, ModelError
from citewell.core.lora import read_adapter
from citewell.core.training.run import Run, RunResult
from citewell.generator.training.judge.run import train
from tests.generator.training.made_up import write_llama, write_rows


def write_recipe(folder: Path, *, precision: str = "float32", steps: int = 32) -> Path:
    file = folder / f"{precision}-{steps}.toml"
    text = f"""
[model]
base = {json.dumps(str(folder / "llama"))}
first_layer = 1
[model.lora]
rank = 4
[[data]]
name = "colors"
files = ["claims.jsonl"]
asks = "support"
license = "CC0"
held_out = 12
[training]
steps = {steps}
epochs = 4
batch = 8
learning_rate = 0.01
eval_every = 12
log_every = 4
part_tokens = 2048
precision = "{precision}"
threads = 1
"""
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_llama(folder / "llama")
    rows = [
        {
            "premise": f"Stone {number}.",
            "claim": f"{('z' if number % 2 else '.') * 40} {number}",
            "label": "supported" if number % 2 else "not_supported",
        }
        for number in range(80)
    ]
    write_rows(folder / "claims.jsonl", rows)
    return folder


def run(recipe: Path, out: Path) -> tuple[RunResult, list[str]]:
    told: list[str] = []
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train judge")
    return train(made, told.append), told


def test_it_learns_to_tell_claims_apart(world: Path) -> None:
    result, told = run(write_recipe(world), world / "out")
    assert any(line.startswith("colors: 68 training examples, 0.") for line in told)
    assert result.after["judge_loss"] < result.before["judge_loss"] - 0.1
    assert result.after["area"] > 0.9
    paths = read_adapter(world / "out").keys()
    assert paths
    assert all(path.startswith("model.layers.1.") for path in paths)
    card = (world / "out" / "README.md").read_text(encoding="utf-8")
    assert "\nfrom layer 1 on" in card
    assert "| train | colors | support | 68 |" in card
    with pytest.raises(InputError, match="holds a trained model already"):
        run(write_recipe(world), world / "out")


def test_layers_that_the_model_does_not_have(world: Path) -> None:
    recipe = write_recipe(world, steps=1)
    recipe.write_text(recipe.read_text().replace("first_layer = 1", "first_layer = 2"), encoding="utf-8")
    with pytest.raises(ModelError, match="has 2 layers, and none from number 2 on"):
        run(recipe, world / "none")


def test_bfloat16_learns_too(world: Path) -> None:
    result, _ = run(write_recipe(world, precision="bfloat16", steps=12), world / "half")
    assert result.after["judge_loss"] < result.before["judge_loss"]
