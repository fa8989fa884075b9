"""`citewell train scorer`, from outside."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from citewell.scorer.load import load_scorer
from tests.cli.conftest import Cli
from tests.scorer.training.made_up import choices, question, write_recipe, write_rows, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("peft", reason="the extra `train` is not installed")
    pytest.importorskip("datasets", reason="the extra `train` is not installed")
    return write_world(tmp_path_factory.mktemp("world"))


def test_a_scorer_from_a_recipe_and_another_from_feedback(cli: Cli, world: Path) -> None:
    first, second = world / "first", world / "second"
    result = cli.run("train", "scorer", write_recipe(world, "recipe.toml"), "--out", first)
    assert result.code == 0, result.err
    assert "longer_wins: " in result.out
    assert result.out.endswith(f"The model and its card are in {first}.\n")

    file = write_rows(world / "feedback.jsonl", choices(20, start=1000))
    options = ["train", "scorer", "--from", file, "--scorer", first, "--out", second, "--threads", "1"]
    refused = cli.run(*options)
    assert refused.code == 2
    assert "has 20 comparisons, too few" in refused.err
    assert not second.exists()
    forced = cli.run(*options, "--force")
    assert forced.code == 0, forced.err
    assert "accuracy on the pinned test of" in forced.err
    good, bad = load_scorer(str(second), world / "cache", 1).rate(question(1), ["it is kind", "it is rude"])
    assert good > bad


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "Either RECIPE or --from"),
        (["recipe.toml", "--force"], "--scorer, --threads and --force require --from"),
        (["--from", "choices.jsonl", "--scorer", "nobody"], "Unknown scorer 'nobody'"),
    ],
)
def test_options_that_do_not_go_together(cli: Cli, world: Path, options: list[str], problem: str) -> None:
    write_recipe(world, "recipe.toml")
    given = [str(world / each) if "." in each else each for each in options]
    result = cli.run("train", "scorer", *given, "--out", world / "never")
    assert result.code != 0
    assert problem in result.err
    assert not (world / "never").exists()


def test_the_files_of_a_recipe_are_found_in_the_folder_of_the_setting_data(
    cli: Cli, world: Path, tmp_path: Path
) -> None:
    recipe = write_recipe(world, "elsewhere.toml", steps=0, probe=0.1)
    recipe = recipe.rename(tmp_path / "recipe.toml")
    settings = tmp_path / "settings.toml"
    settings.write_text(f'data = "{world}"\n')
    refused = cli.run("train", "scorer", recipe, "--out", tmp_path / "out")
    assert refused.code == 2
    assert "There is no choices.jsonl in" in refused.err
    result = cli.run("--config", settings, "train", "scorer", recipe, "--out", tmp_path / "out")
    assert result.code == 0, result.err


def test_a_run_that_was_killed_is_resumed_to_the_same_end(trainer: Cli, world: Path) -> None:
    recipe = write_recipe(world, "killed.toml")
    whole, broken = world / "whole", world / "broken"
    done = trainer.run("train", "scorer", recipe, "--out", whole)
    assert done.code == 0, done.err
    process = trainer.begin("train", "scorer", recipe, "--out", broken)
    assert process.stderr is not None
    # When a step is evaluated, the checkpoint of the evaluation before is complete.
    assert any(line.startswith("step 20:") for line in process.stderr)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (broken / "scorer.json").exists()
    result = trainer.run("train", "scorer", recipe, "--out", broken)
    assert result.code == 0, result.err
    assert "resuming after step" in result.err
    assert result.out.replace(str(broken), "") == done.out.replace(str(whole), "")
    for name in ("head.safetensors", "adapter/adapter_model.safetensors"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
