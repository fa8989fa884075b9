"""A real store becomes a reward model and a policy, if it passes the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from citewell.core.errors import InputError
from citewell.core.training.run import Run
from citewell.reinforcement.config import load_config
from citewell.reinforcement.feedback.recipe import FeedbackRun
from citewell.reinforcement.feedback.run import learn_from_feedback
from citewell.server.commands.judgments import export_judgments
from tests.reinforcement.made_up import write_recipe, write_start
from tests.scorer.training.made_up import write_recipe as write_scorer_recipe
from tests.scorer.training.made_up import write_world as write_people
from tests.server.store.judged import write_store


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generator to start from, and a scorer with a pinned test."""
    from citewell.scorer.training.run import train

    folder = write_start(tmp_path_factory.mktemp("world"))
    people = folder / "people"
    people.mkdir()
    recipe = write_scorer_recipe(write_people(people), "scorer.toml")
    train(Run(recipe=recipe, out=folder / "scorer", cache=folder / "cache", command=""), [].append)
    return folder


def test_a_run_whose_export_failed_can_be_repeated(world: Path, cache: Path, tmp_path: Path) -> None:
    def unreachable(folder: Path) -> None:
        (folder / "comparisons.jsonl").touch()
        raise ConnectionError

    out = tmp_path / "improved"
    options = FeedbackRun(scorer=str(world / "scorer"), threads=1, recipe=None)
    run = Run(recipe=world, out=out, cache=cache, command="")
    for _ in range(2):
        with pytest.raises(ConnectionError):
            learn_from_feedback(run, options, unreachable, [].append)


def test_a_store_becomes_a_reward_model_and_a_policy_that_passes_the_gate(
    world: Path, cache: Path, tmp_path: Path
) -> None:
    # A rate so small that the policy stays its start, which is as good as itself.
    recipe = write_recipe(world, "feedback.toml", episodes=32, learning_rate=1e-9)
    recipe.write_text(recipe.read_text().replace('kind = "support"', 'kind = "score"'))
    url, out, told = write_store(tmp_path / "store.sqlite3", 140), tmp_path / "improved", list[str]()
    options = FeedbackRun(scorer=str(world / "scorer"), threads=1, recipe=load_config(recipe))
    run = Run(recipe=recipe, out=out, cache=cache, command="citewell train answers --from-feedback")
    result = learn_from_feedback(run, options, lambda folder: export_judgments(url, folder), told.append)
    assert result.steps == 1
    for line in ("accuracy on the pinned test of", "accuracy on the pinned judgments: ", "gate, "):
        assert any(each.startswith(line) for each in told)
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"reward"}
    assert (out / "reward" / "scorer.json").is_file()
    assert (out / "adapter_model.safetensors").is_file()
    card, record = (out / "README.md").read_text(), json.loads((out / "training.json").read_text())
    assert card.startswith("---\nlibrary_name: peft")
    assert "# improved\n" in card
    assert "## Gate" in card
    assert "citation recall" in card
    assert "reward model" in card
    assert "what amber" not in card
    assert record["gate"]["citation recall"]["p"] == 1
    assert record["pinned_judgments"]["after"] > 0.8
    with pytest.raises(InputError, match="holds a trained model already"):
        learn_from_feedback(run, options, lambda folder: None, told.append)
