"""`citewell train policy`, from outside: a run that was killed, and browsing with what was learned."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.training.made_up import LIMITS, write_recipe, write_world
from tests.cli.conftest import Cli
from tests.notes import BATS

pytest.importorskip("html2text", reason="the extra `browser` is not installed")

NOTES = ("--collection", "notes")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    pytest.importorskip("peft", reason="the extra `train` is not installed")
    return write_world(tmp_path_factory.mktemp("world"))


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(folder / "adapter_model.safetensors")


def logged(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "training.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_that_was_killed_goes_on_to_the_same_end_and_browses(trainer: Cli, world: Path) -> None:
    recipe = write_recipe(world)
    whole, broken = world / "whole", world / "broken"
    done = trainer.run("train", "policy", recipe, "--out", whole, *NOTES)
    assert done.code == 0, done.err
    assert "reward: " in done.out

    process = trainer.begin("train", "policy", recipe, "--out", broken, *NOTES)
    assert process.stderr is not None
    # When a step is measured, the checkpoint of the one measured before is complete.
    assert any(line.startswith("step 12:") for line in process.stderr)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (broken / "policy.json").exists()

    result = trainer.run("train", "policy", recipe, "--out", broken, *NOTES)
    assert result.code == 0, result.err
    assert "resuming after step" in result.err
    assert result.out.replace(str(broken), "") == done.out.replace(str(whole), "")
    found, expected = weights(broken), weights(whole)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        # Adapters are kept in float16.
        np.testing.assert_allclose(found[name], value, atol=1e-3, err_msg=name)
    for one, other in zip(logged(whole), logged(broken), strict=True):
        for name in one.keys() & {"step", "loss", "eval_command_loss", "eval_reward", "eval_valid"}:
            assert one[name] == pytest.approx(other[name], abs=1e-4), name

    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    trace = world / "episode.jsonl"
    browsed = trainer.run(
        *("browse", BATS, *NOTES, "--policy", broken, "--actions", "3", "--json", "--trace", trace)
    )
    assert browsed.code == 0, browsed.err
    (answer,) = browsed.objects()
    assert answer["models"]["policy"] == str(broken)
    steps = answer["episode"]["steps"]
    assert 1 <= len(steps) <= 3
    assert all(step["kind"] != "invalid" for step in steps)
    assert all(len(step["state"].encode()) <= LIMITS.state_tokens for step in steps)
    assert trace.read_bytes().count(b"\n") == 1


@pytest.mark.parametrize(
    ("content", "exit_code", "message"),
    [
        (None, 2, "holds no model"),
        ('{"window_lines": 1}', 1, "window_lines is 1"),
        ("limits", 1, "policy.json cannot be read"),
    ],
    ids=["missing", "too small", "damaged"],
)
def test_folders_that_hold_no_policy(
    cli: Cli, tmp_path: Path, content: str | None, exit_code: int, message: str
) -> None:
    if content is not None:
        (tmp_path / "policy.json").write_text(content, encoding="utf-8")
    code, out, err = cli.run("browse", BATS, *NOTES, "--policy", tmp_path)
    assert (code, out) == (exit_code, "")
    assert message in err
    assert "Traceback" not in err
