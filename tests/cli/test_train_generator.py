"""`citewell train generator`, from outside."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Cli
from tests.generator.training.made_up import write_config, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    pytest.importorskip("peft", reason="the extra `train` is not installed")
    return write_world(tmp_path_factory.mktemp("world"))


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(folder / "adapter_model.safetensors")


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_been(trainer: Cli, world: Path) -> None:
    from citewell.core.training.run import Run
    from citewell.generator.training.run import train

    recipe = write_config(world, epochs=4, generate=1)
    whole, broken = world / "whole", world / "broken"
    train(Run(recipe=recipe, out=whole, cache=world / "cache", command=""), lambda line: None)

    process = trainer.begin("train", "generator", recipe, "--out", broken)
    assert process.stderr is not None
    # When a step is told, the checkpoint of the one told before is complete.
    assert any(line.startswith("step 4:") for line in process.stderr)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (broken / "adapter_config.json").exists()

    result = trainer.run("train", "generator", recipe, "--out", broken)
    assert result.code == 0, result.err
    assert "resuming after step" in result.err
    assert "answer_loss: " in result.out
    assert f"The model and its card are in {broken}." in result.out
    found, expected = weights(broken), weights(whole)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        # Adapters are kept in float16.
        np.testing.assert_allclose(found[name], value, atol=1e-3, err_msg=name)
    logs = [
        [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
        for folder in (whole, broken)
    ]
    for one, other in zip(*logs, strict=True):
        assert one["step"] == other["step"]
        for name in one.keys() & {"loss", "eval_answer_loss", "eval_citation_f1"}:
            assert one[name] == pytest.approx(other[name], abs=1e-4)


def test_what_is_wrong_is_said_before_anything_is_written(trainer: Cli, world: Path, tmp_path: Path) -> None:
    recipe = write_config(world, "wrong.toml")
    recipe.write_text(recipe.read_text().replace("rows.jsonl", "none.jsonl"))
    result = trainer.run("train", "generator", recipe, "--out", tmp_path / "out")
    assert result.code == 2
    assert "There is no none.jsonl in" in result.err
    recipe.write_text(recipe.read_text().replace("none.jsonl", "rows.jsonl").replace("ema", "emma"))
    result = trainer.run("train", "generator", recipe, "--out", tmp_path / "out")
    assert result.code == 2
    assert "there is no key training.emma." in result.err
    assert "Did you mean ema?" in result.err
    assert not (tmp_path / "out").exists()
