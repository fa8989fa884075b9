"""Users' feedback becomes a new scorer, if there is enough of it and it does no harm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("datasets", reason="the extra `train` is not installed")

from citewell.core.errors import InputError, ModelError
from citewell.scorer.form import read_form
from citewell.scorer.load import load_scorer
from citewell.scorer.training.card import ScorerRunResult
from citewell.scorer.training.config import load_config
from citewell.scorer.training.feedback import FEWEST, FeedbackRun, retrain
from citewell.scorer.training.gate import Gate, GateError
from citewell.scorer.training.pinned import PINNED, read_pinned
from citewell.scorer.training.run import ScorerRun, train
from tests.scorer.training.made_up import BAD, choices, question, write_recipe, write_rows, write_world

KIND, RUDE = "it is kind and so", "it is rude and so"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_world(tmp_path_factory.mktemp("world"))
    recipe = write_recipe(folder, "recipe.toml")
    train(ScorerRun(load_config(recipe), recipe, folder / "current", folder / "cache", ""), [].append)
    return folder


def feedback(world: Path, file: Path, out: str, **changes: bool) -> FeedbackRun:
    return FeedbackRun(file, str(world / "current"), world / out, world / "cache", "command", 1, **changes)


def test_feedback_makes_a_new_scorer_that_keeps_the_pinned_test(world: Path) -> None:
    file = write_rows(world / "agree.jsonl", choices(FEWEST + 20, start=1000))
    told: list[str] = []
    outcome = retrain(feedback(world, file, "better"), told.append)
    assert outcome.checked["pinned_after"] >= outcome.checked["pinned_before"] - 0.01
    assert any(line.startswith("accuracy on the pinned test") for line in told)
    before, after = read_form(world / "current"), read_form(world / "better")
    assert before.pinned == after.pinned
    assert (world / "better" / PINNED).read_bytes() == (world / "current" / PINNED).read_bytes()
    scores = load_scorer(str(world / "better"), world / "cache", 1).rate(question(1), [KIND, RUDE])
    assert scores[0] > scores[1]
    again = feedback(world, file, "third")
    retrain(FeedbackRun(file, str(world / "better"), again.out, again.cache, "command", 1), told.append)
    assert read_form(world / "third").pinned == before.pinned


def test_thumbs_count_where_a_question_got_both(world: Path) -> None:
    rows = [
        {"question": row["question"], "answer": text, "thumbs": 1 if place == row["preferred"] else -1}
        for row in choices(FEWEST + 20, start=3000)
        for place, text in enumerate(row["answers"])
    ]
    outcome = retrain(feedback(world, write_rows(world / "thumbs.jsonl", rows), "thumbs"), [].append)
    assert outcome.steps > 0


def test_too_little_feedback_is_refused(world: Path) -> None:
    file = write_rows(world / "few.jsonl", choices(20, start=1000))
    with pytest.raises(InputError, match="20 comparisons, too few"):
        retrain(feedback(world, file, "few"), [].append)
    assert not (world / "few").exists()
    retrain(feedback(world, file, "few", force=True), [].append)
    assert (world / "few" / "scorer.json").is_file()


def test_a_scorer_that_is_worse_is_refused(world: Path) -> None:
    current = world / "current"
    write_rows(world / "spite.jsonl", choices(160, liked=BAD, start=10_000))
    text = f"""
[[data]]
name = "spite"
files = ["spite.jsonl"]
licence = "CC0"
[model]
base = {json.dumps(str(world / "bert"))}
start = {json.dumps(str(current))}
frozen = 0.5
"""
    recipe = write_recipe(world, "spite.toml", text)
    pinned = read_pinned(current, read_form(current))

    def spoil(*, force: bool) -> ScorerRunResult:
        gate = Gate(pinned, lambda line: None, force=force)
        run = ScorerRun(load_config(recipe), recipe, world / "worse", world / "cache", "", force, gate)
        return train(run, lambda line: None)

    with pytest.raises(GateError, match="is worse than the current one"):
        spoil(force=False)
    assert not (world / "worse" / "scorer.json").exists()
    outcome = spoil(force=True)
    assert outcome.checked["pinned_after"] < outcome.checked["pinned_before"]
    assert f"{outcome.checked['pinned_after']:.3f}" in (world / "worse" / "README.md").read_text()


def test_a_scorer_without_a_pinned_test_is_not_trained_further(world: Path) -> None:
    folder = world / "unpinned"
    shutil.copytree(world / "current", folder)
    form = json.loads((folder / "scorer.json").read_text())
    (folder / "scorer.json").write_text(json.dumps(form | {"pinned": ""}))
    file = write_rows(world / "enough.jsonl", choices(FEWEST, start=1000))
    with pytest.raises(InputError, match="has no pinned test"):
        retrain(FeedbackRun(file, str(folder), world / "never", world / "cache", "", 1), [].append)
    (folder / "run.json").unlink()
    with pytest.raises(ModelError, match=r"cannot be read from run\.json"):
        retrain(FeedbackRun(file, str(folder), world / "never", world / "cache", "", 1), [].append)
