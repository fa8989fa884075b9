"""A whole run with a tiny model: it learns, and writes what others can read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

from citewell.core.errors import InputError, ModelError
from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.run import Run, RunResult
from citewell.generator.defaults import read_defaults
from citewell.generator.training.run import train
from tests.generator.training.made_up import write_config, write_world


def run(recipe: Path, out: Path, *, export: Path | None = None) -> tuple[RunResult, list[str]]:
    told: list[str] = []
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train generator")
    return train(made, told.append, export), told


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def trained(world: Path) -> tuple[Path, RunResult, list[str]]:
    out = world / "trained"
    return (out, *run(write_config(world), out, export=world / "merged"))


def test_it_learns_and_says_how_far_it_is(trained: tuple[Path, RunResult, list[str]]) -> None:
    _, outcome, told = trained
    assert outcome.steps == 8
    assert outcome.before.keys() == outcome.after.keys()
    assert {"answer_loss", "citation_recall", "citation_precision", "citation_f1"} == outcome.after.keys()
    assert outcome.after["answer_loss"] < outcome.before["answer_loss"]
    assert any("32 training rows" in line for line in told)
    assert any(line.startswith("step 8: answer_loss ") for line in told)


def test_the_adapter_and_the_merged_model_are_the_same(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    from transformers import AutoModelForCausalLM

    from citewell.core.lora import merge

    out, _, _ = trained
    config = json.loads((out / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(world / "llama")
    adapted = AutoModelForCausalLM.from_pretrained(world / "llama")
    before = adapted.model.layers[0].mlp.up_proj.weight.detach().clone()
    merge(adapted, out)
    merged = AutoModelForCausalLM.from_pretrained(world / "merged").state_dict()
    for name, value in adapted.state_dict().items():
        np.testing.assert_allclose(value.numpy(), merged[name].numpy(), atol=1e-4, err_msg=name)
    assert (adapted.model.layers[0].mlp.up_proj.weight - before).abs().max() > 1e-3


def test_the_adapter_opens_in_peft(trained: tuple[Path, RunResult, list[str]]) -> None:
    from peft import AutoPeftModelForCausalLM

    model = AutoPeftModelForCausalLM.from_pretrained(str(trained[0]))
    assert any(".lora_" in name for name, _ in model.named_parameters())


def test_it_is_asked_as_it_was_trained(trained: tuple[Path, RunResult, list[str]], world: Path) -> None:
    out, _, _ = trained
    assert not read_defaults(out).form.demonstration
    assert read_defaults(world / "merged") == read_defaults(out)


def test_the_card_says_where_the_model_is_from(trained: tuple[Path, RunResult, list[str]]) -> None:
    out, outcome, _ = trained
    card = (out / "README.md").read_text()
    record = json.loads((out / "training.json").read_text())
    assert "| train | made-up | 32 | `rows.jsonl` | CC0 |" in card
    assert record["data"][0]["sha256"] in card
    assert f"{outcome.after['answer_loss']:.4f}" in card
    assert "# trained" in card
    assert "base_model: llama\n" in card
    assert str(out.parent) not in card
    assert "averaged with a decay of 0.5" in card
    assert record["seen"] > 0
    assert record["device"] in card
    assert (out / "training.png").read_bytes().startswith(b"\x89PNG")
    assert not (out / "checkpoints").exists()


def test_a_model_that_is_there_is_never_overwritten(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    out, _, _ = trained
    with pytest.raises(InputError, match="holds a trained model already"):
        run(write_config(world), out)
    with pytest.raises(InputError, match="is not empty"):
        run(write_config(world), world / "new", export=world / "merged")
    assert not (world / "new").exists()


@pytest.mark.parametrize(
    ("out", "export"), [("one", "one"), ("one", "one/merged"), ("one/adapter", "one"), ("one", "two/../one")]
)
def test_the_folders_of_the_adapter_and_the_merged_model_are_apart(
    world: Path, out: str, export: str
) -> None:
    with pytest.raises(InputError, match="are one folder, or one is inside the other"):
        run(write_config(world, "apart.toml"), world / out, export=world / export)
    assert not (world / "one").exists()


def test_an_adapter_is_trained_further(trained: tuple[Path, RunResult, list[str]], world: Path) -> None:
    out, first, _ = trained
    recipe = write_config(world, "further.toml", generate=0)
    recipe.write_text(recipe.read_text().replace("[model]", f'[model]\nstart = "{out}"'))
    outcome, _ = run(recipe, world / "further")
    assert outcome.before["answer_loss"] == pytest.approx(first.after["answer_loss"], rel=0.01)
    assert outcome.after["answer_loss"] < outcome.before["answer_loss"]
    assert (world / "further" / "adapter_config.json").exists()


def test_only_an_adapter_of_the_same_base_is_trained_further(world: Path) -> None:
    recipe = write_config(world, "start.toml")
    recipe.write_text(recipe.read_text().replace("[model]", f'[model]\nstart = "{world / "llama"}"'))
    with pytest.raises(ModelError, match="is no adapter of"):
        run(recipe, world / "start")
    recipe.write_text(recipe.read_text().replace("[model]", '[model]\ntuning = "full"'))
    with pytest.raises(InputError, match="trains all weights"):
        run(recipe, world / "start")


def test_all_weights_packed(world: Path) -> None:
    from transformers import AutoModelForCausalLM

    recipe = write_config(world, "full.toml", steps=2, packing=True, ema=None, generate=0)
    recipe.write_text(recipe.read_text().replace("[model]", '[model]\ntuning = "full"'))
    outcome, _ = run(recipe, world / "full")
    assert outcome.after.keys() == {"answer_loss"}
    assert not (world / "full" / "adapter_config.json").exists()
    trained = AutoModelForCausalLM.from_pretrained(world / "full").model.embed_tokens.weight
    before = AutoModelForCausalLM.from_pretrained(world / "llama").model.embed_tokens.weight
    assert (trained - before).abs().max() > 1e-3


def test_references_that_would_be_cut_are_left_out_and_bfloat16_learns(world: Path) -> None:
    recipe = write_config(world, "cut.toml", steps=4, generate=0, precision="bfloat16")
    recipe.write_text(recipe.read_text().replace("[prompt]", "[prompt]\ncut = false"))
    outcome, told = run(recipe, world / "bfloat16")
    assert "made-up: skipped 0 too long rows" in told
    assert outcome.after["answer_loss"] < outcome.before["answer_loss"]
    short = world / "short.toml"
    short.write_text(recipe.read_text().replace("prompt_tokens = 400", "prompt_tokens = 64"))
    with pytest.raises(InputError, match="No row of the source made-up fits the prompt"):
        run(short, world / "short")


def test_layers_that_are_not_there(world: Path) -> None:
    recipe = write_config(world, "layers.toml")
    recipe.write_text(recipe.read_text().replace("rank = 4", 'rank = 4\ntargets = ["query"]'))
    with pytest.raises(ModelError, match="has no layers query to adapt"):
        run(recipe, world / "layers")


def test_a_loss_that_is_no_number_ends_the_run(world: Path) -> None:
    recipe = write_config(world, "nan.toml", learning_rate=1e30, clip=1e30, warmup=0.0, generate=0)
    with pytest.raises(TrainingError, match=r"The loss of step \d+ is nan"):
        run(recipe, world / "nan")
