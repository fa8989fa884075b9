"""`citewell train retriever`, from outside."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from citewell.core.training.run import Run
from citewell.retriever.training.run import train
from tests.cli.conftest import Cli
from tests.retriever.training.made_up import write_config, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")
    pytest.importorskip("peft", reason="the extra `train` is not installed")
    return write_world(tmp_path_factory.mktemp("world"))


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    files = sorted(folder.rglob("*.safetensors"))
    return {
        f"{file.relative_to(folder)} {name}": value
        for file in files
        for name, value in load_file(file).items()
    }


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_been(trainer: Cli, world: Path) -> None:
    config = write_config(world, epochs=12)
    whole, broken = world / "whole", world / "broken"
    train(Run(recipe=config, out=whole, cache=world / "cache", command=""), lambda line: None)

    process = trainer.begin("train", "retriever", config, "--out", broken)
    assert process.stderr is not None
    # When a step is told, the checkpoint of the one told before is complete.
    assert any(line.startswith("step 28:") for line in process.stderr)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (broken / "modules.json").exists()

    result = trainer.run("train", "retriever", config, "--out", broken)
    assert result.code == 0, result.err
    assert "resuming after step 2" in result.err
    assert '"learning_rate": 0.003' in result.err
    assert "made-up: " in result.out
    assert f"The model and its card are in {broken}." in result.out
    found, expected = weights(broken), weights(whole)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-5, err_msg=name)
    steps, again = (
        [json.loads(line)["step"] for line in (folder / "training.jsonl").read_text().splitlines()]
        for folder in (whole, broken)
    )
    assert steps == again


def test_what_is_wrong_is_said_before_anything_is_written(trainer: Cli, world: Path, tmp_path: Path) -> None:
    config = write_config(world, "wrong.toml")
    config.write_text(config.read_text().replace("rows.jsonl", "none.jsonl"))
    result = trainer.run("train", "retriever", config, "--out", tmp_path / "out")
    assert result.code == 2
    assert "There is no none.jsonl in" in result.err
    assert not (tmp_path / "out").exists()
    (world / "empty.jsonl").touch()
    config.write_text(config.read_text().replace("none.jsonl", "empty.jsonl"))
    result = trainer.run("train", "retriever", config, "--out", tmp_path / "out")
    assert result.code == 2
    assert "empty.jsonl" in result.err
    assert not (tmp_path / "out").exists()
