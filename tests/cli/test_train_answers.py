"""`citewell train answers`, from outside."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.reinforcement.made_up import write_recipe, write_start


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    pytest.importorskip("peft", reason="the extra `train` is not installed")
    return write_start(tmp_path_factory.mktemp("world"))


def test_killed_or_interrupted_it_resumes_to_the_same_weights(trainer: Cli, world: Path) -> None:
    from safetensors.numpy import load_file

    from citewell.core.training.run import Run
    from citewell.reinforcement.run import train

    recipe = write_recipe(world, episodes=192)
    recipe.write_text(recipe.read_text().replace('network = "head"', 'network = "adapter"'))
    whole, broken = world / "whole", world / "broken"
    train(Run(recipe=recipe, out=whole, cache=world / "cache", command=""), lambda line: None)
    for number, how in ((2, signal.SIGKILL), (4, signal.SIGINT)):
        process = trainer.begin("train", "answers", recipe, "--out", broken)
        assert process.stderr is not None
        assert any(line.startswith(f"iteration {number} of 6,") for line in process.stderr)
        os.killpg(process.pid, how)
        _, told = process.communicate()
    assert "interrupted; everything stored so far is kept" in told
    assert not (broken / "adapter_config.json").exists()
    result = trainer.run("train", "answers", recipe, "--out", broken)
    assert result.code == 0, result.err
    assert "resuming after iteration" in result.err
    assert f"The model and its card are in {broken}." in result.out
    found, expected = (load_file(folder / "adapter_model.safetensors") for folder in (broken, whole))
    assert found.keys() == expected.keys()
    assert all((found[name] == value).all() for name, value in expected.items())


def test_a_recipe_with_an_unknown_key_is_refused(trainer: Cli, world: Path) -> None:
    recipe = write_recipe(world, "wrong.toml", kl_bugdet=3)
    result = trainer.run("train", "answers", recipe, "--out", world / "never")
    assert result.code == 2
    assert "there is no key ppo.kl_bugdet" in result.err
    assert "Did you mean kl_budget?" in result.err
    assert not (world / "never").exists()
