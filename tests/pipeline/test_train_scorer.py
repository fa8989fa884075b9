"""`citewell train scorer`, from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.scorer.load import load_scorer
from tests.pipeline.conftest import Cli
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
    assert result.out.endswith(f"The scorer and its card are in {first}.\n")

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
        ([], "either CONFIG or --from"),
        (["recipe.toml", "--force"], "--scorer and --force are for --from"),
        (["--from", "choices.jsonl", "--scorer", "nobody"], "There is no scorer named 'nobody'"),
    ],
)
def test_options_that_do_not_go_together(cli: Cli, world: Path, options: list[str], problem: str) -> None:
    write_recipe(world, "recipe.toml")
    given = [str(world / each) if "." in each else each for each in options]
    result = cli.run("train", "scorer", *given, "--out", world / "never")
    assert result.code != 0
    assert problem in result.err
    assert not (world / "never").exists()
