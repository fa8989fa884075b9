"""Users' feedback becomes a new scorer, if there is enough of it and it does no harm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("datasets", reason="the extra `train` is not installed")

from citewell.core.errors import InputError, ModelError
from citewell.core.training.run import Run
from citewell.scorer.form import read_form
from citewell.scorer.load import load_scorer
from citewell.scorer.training.config import load_config
from citewell.scorer.training.feedback import MINIMUM, retrain
from citewell.scorer.training.gate import Gate, GateError
from citewell.scorer.training.pinned import PINNED, read_pinned
from citewell.scorer.training.run import train, train_scorer
from tests.scorer.training.made_up import BAD, choices, question, write_recipe, write_rows, write_world

KIND, RUDE = "it is kind and so", "it is rude and so"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_world(tmp_path_factory.mktemp("world"))
    recipe = write_recipe(folder, "recipe.toml")
    train(Run(recipe=recipe, out=folder / "current", cache=folder / "cache", command=""), [].append)
    return folder


def further(world: Path, file: Path, out: str, *, start: str = "current", force: bool = False) -> list[str]:
    """Train the scorer `start` further; what was reported."""
    told: list[str] = []
    run = Run(recipe=file, out=world / out, cache=world / "cache", command="command")
    retrain(run, str(world / start), told.append, threads=1, force=force)
    return told


def checked(folder: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads((folder / "training.json").read_text())["checked"]
    return found


def test_feedback_makes_a_new_scorer_that_keeps_the_pinned_test(world: Path) -> None:
    file = write_rows(world / "agree.jsonl", choices(MINIMUM + 20, start=1000))
    told = further(world, file, "better")
    accuracy = checked(world / "better")
    assert accuracy["pinned_after"] >= accuracy["pinned_before"] - 0.01
    assert any(line.startswith("accuracy on the pinned test") for line in told)
    before, after = read_form(world / "current"), read_form(world / "better")
    assert before.pinned == after.pinned
    assert (world / "better" / PINNED).read_bytes() == (world / "current" / PINNED).read_bytes()
    scores = load_scorer(str(world / "better"), world / "cache", 1).rate(question(1), [KIND, RUDE])
    assert scores[0] > scores[1]
    further(world, file, "third", start="better")
    assert read_form(world / "third").pinned == before.pinned


def test_thumbs_count_where_a_question_got_both(world: Path) -> None:
    rows = [
        {"question": row["question"], "answer": text, "thumbs": 1 if place == row["preferred"] else -1}
        for row in choices(MINIMUM + 20, start=3000)
        for place, text in enumerate(row["answers"])
    ]
    further(world, write_rows(world / "thumbs.jsonl", rows), "thumbs")
    assert json.loads((world / "thumbs" / "training.json").read_text())["steps"] > 0


def test_too_little_feedback_is_refused(world: Path) -> None:
    file = write_rows(world / "few.jsonl", choices(20, start=1000))
    with pytest.raises(InputError, match="20 comparisons, too few"):
        further(world, file, "few")
    assert not (world / "few").exists()
    further(world, file, "few", force=True)
    assert (world / "few" / "scorer.json").is_file()


def test_a_scorer_that_is_worse_is_refused(world: Path) -> None:
    current = world / "current"
    write_rows(world / "spite.jsonl", choices(160, liked=BAD, start=10_000))
    text = f"""
[[data]]
name = "spite"
files = ["spite.jsonl"]
license = "CC0"
[model]
base = {json.dumps(str(world / "bert"))}
start = {json.dumps(str(current))}
frozen = 0.5
"""
    recipe = write_recipe(world, "spite.toml", text)
    pinned = read_pinned(current, read_form(current))

    def spoil(*, force: bool) -> None:
        gate = Gate(pinned, lambda line: None, force=force)
        run = Run(recipe=recipe, out=world / "worse", cache=world / "cache", command="")
        train_scorer(run, load_config(recipe), lambda line: None, gate)

    with pytest.raises(GateError, match="is worse than the current one"):
        spoil(force=False)
    assert not (world / "worse" / "scorer.json").exists()
    spoil(force=True)
    accuracy = checked(world / "worse")
    assert accuracy["pinned_after"] < accuracy["pinned_before"]
    assert f"{accuracy['pinned_after']:.3f}" in (world / "worse" / "README.md").read_text()


def test_a_scorer_without_a_pinned_test_is_not_trained_further(world: Path) -> None:
    folder = world / "unpinned"
    shutil.copytree(world / "current", folder)
    form = json.loads((folder / "scorer.json").read_text())
    (folder / "scorer.json").write_text(json.dumps(form | {"pinned": ""}))
    file = write_rows(world / "enough.jsonl", choices(MINIMUM, start=1000))
    with pytest.raises(InputError, match="has no pinned test"):
        further(world, file, "never", start="unpinned")
    (folder / "run.json").unlink()
    with pytest.raises(ModelError, match=r"cannot be read from run\.json"):
        further(world, file, "never", start="unpinned")
