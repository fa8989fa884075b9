"""Whole runs with tiny models: they learn, and write scorers that can be loaded."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("datasets", reason="the extra `train` is not installed")

from citewell.core.errors import InputError, ModelError
from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.run import Run, RunResult
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.form import read_form
from citewell.scorer.load import load_scorer
from citewell.scorer.training.pinned import PINNED, read_pinned
from citewell.scorer.training.run import train
from tests.scorer.training.made_up import DATA, question, write_recipe, write_world

KIND, RUDE = "it is kind and so", "it is rude and so"


def run(
    recipe: Path, out: Path, *, tell: Callable[[str], None] = lambda line: None
) -> tuple[RunResult, list[str]]:
    """Train; also returns what was told, which `tell` hears as well."""
    told: list[str] = []

    def hear(line: str) -> None:
        told.append(line)
        tell(line)

    cache = recipe.parent / "cache"
    made = Run(recipe=recipe, out=out, cache=cache, command="citewell train scorer")
    return train(made, hear), told


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def trained(world: Path) -> tuple[Path, RunResult, list[str]]:
    out = world / "trained"
    return (out, *run(write_recipe(world, "recipe.toml"), out))


def test_it_learns_what_people_like(trained: tuple[Path, RunResult, list[str]]) -> None:
    _, outcome, told = trained
    assert outcome.before["accuracy"] == 0.5
    assert outcome.after["accuracy"] > 0.9
    assert outcome.test["accuracy"] > 0.9
    assert {"longer_wins", "length_correlation", "length_matched", "pair_loss"} <= outcome.test.keys()
    assert any("training questions" in line for line in told)


def test_the_scorer_can_be_loaded_and_asked(trained: tuple[Path, RunResult, list[str]], world: Path) -> None:
    out, _, _ = trained
    scorer = load_scorer(str(out), world / "cache", 1)
    scores = scorer.rate(question(3), [KIND, RUDE, KIND])
    assert scores[0] > scores[1]
    assert scores[0] == pytest.approx(scores[2], abs=1e-4)
    assert scorer.preference(*scores[:2]) > 0.6
    assert scorer.preference(*scores[:2]) == pytest.approx(1 - scorer.preference(scores[1], scores[0]))
    assert scorer.rate(question(3), []) == []
    assert not scorer.with_references


def test_a_head_can_begin_as_a_probe_of_a_middle_layer(world: Path) -> None:
    out = world / "probed"
    recipe = write_recipe(world, "probed.toml", depth=2, probe=0.01, steps=1)
    outcome, told = run(recipe, out)
    assert any("linear probe" in line for line in told)
    assert outcome.before["accuracy"] > 0.8
    assert read_form(out).depth == 2
    assert load_scorer(str(out), world / "cache", 1).rate(question(3), [KIND])


def test_a_probe_alone_is_a_scorer(world: Path) -> None:
    recipe = write_recipe(world, "probe.toml", depth=2, probe=0.01, steps=0)
    outcome, _ = run(recipe, world / "probe")
    assert outcome.before == outcome.after
    assert outcome.after["accuracy"] > 0.8
    assert load_scorer(str(world / "probe"), world / "cache", 1).rate(question(3), [KIND])
    with pytest.raises(InputError, match="nothing is trained"):
        run(write_recipe(world, "nothing.toml", steps=0), world / "nothing")


def test_more_layers_than_there_are_are_refused(world: Path) -> None:
    with pytest.raises(ModelError, match="3 layers, and depth is 4"):
        run(write_recipe(world, "deep.toml", depth=4), world / "deep")


def test_scores_have_mean_0_and_deviation_1_over_what_was_learned_from(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    out, _, _ = trained
    scorer = load_scorer(str(out), world / "cache", 1)
    scores = [
        score
        for each in read_comparisons(world / "choices.jsonl").comparisons
        for score in scorer.rate(each.question, [each.first, each.second])
    ]
    mean = sum(scores) / len(scores)
    assert mean == pytest.approx(0, abs=0.1)
    assert sum((score - mean) ** 2 for score in scores) / len(scores) == pytest.approx(1, abs=0.15)


def test_what_is_written_says_where_it_is_from(trained: tuple[Path, RunResult, list[str]]) -> None:
    out, outcome, _ = trained
    card = (out / "README.md").read_text()
    record = json.loads((out / "training.json").read_text())
    assert "# trained" in card
    assert "CC0" in card
    assert record["data"][0]["sha256"] in card
    assert f"{outcome.test['longer_wins']:.4f}" in card
    assert (out / "training.png").read_bytes().startswith(b"\x89PNG")
    assert not (out / "checkpoints").exists()
    assert sum(file.stat().st_size for file in out.rglob("*.safetensors")) < 10_000_000


def test_the_pinned_test_is_of_questions_that_were_not_learned_from(
    trained: tuple[Path, RunResult, list[str]],
) -> None:
    out, _, _ = trained
    pinned = read_pinned(out, read_form(out))
    assert len(pinned) == json.loads((out / "training.json").read_text())["comparisons"]["test"]["choices"]
    (out / PINNED).rename(out / "kept")
    (out / PINNED).write_bytes((out / "kept").read_bytes()[:-9] + b"123456789")
    with pytest.raises(InputError, match=r"pinned\.jsonl\.gz"):
        read_pinned(out, read_form(out))
    (out / "kept").replace(out / PINNED)


def test_a_scorer_that_is_there_is_never_overwritten(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    out, _, _ = trained
    with pytest.raises(InputError, match="holds a trained model already"):
        run(write_recipe(world, "recipe.toml"), out)


@pytest.mark.parametrize("formulation", ["classification", "regression"])
def test_the_other_formulations_of_the_paper(world: Path, formulation: str) -> None:
    text = f"""
[[data]]
name = "votes"
files = ["votes.jsonl"]
license = "CC0"
[data.reading.votes]
answers = 4
ranks = 2
truncate = false
[objective]
formulation = "{formulation}"
[split]
dev = 0.3
test = 0.0
"""
    recipe = write_recipe(world, f"{formulation}.toml", text, epochs=10, pinned=0)
    outcome, _ = run(recipe, world / formulation)
    assert outcome.after["accuracy"] > 0.7
    assert outcome.test == {}
    load_scorer(str(world / formulation), world / "cache", 1).rate("what", [KIND])


def test_a_decoder_is_fine_tuned_first(world: Path) -> None:
    text = "[tuning]\nepochs = 1\nlearning_rate = 0.01\n[objective]\nlength_penalty = 0.5\n"
    recipe = write_recipe(world, "decoder.toml", text, base="llama", epochs=10)
    outcome, told = run(recipe, world / "decoder")
    assert outcome.test["accuracy"] > 0.8
    assert any(line.startswith("fine-tuning on ") for line in told)
    assert read_form(world / "decoder").pooling == "last"
    scores = load_scorer(str(world / "decoder"), world / "cache", 1).rate(question(1), [KIND, RUDE])
    assert scores[0] > scores[1]


def test_an_encoder_cannot_be_fine_tuned_to_write(world: Path) -> None:
    with pytest.raises(InputError, match="is an encoder"):
        run(write_recipe(world, "encoder.toml", "[tuning]\nepochs = 1\n"), world / "encoder")


def test_all_weights_of_the_upper_layers_with_answers_cut_alike(world: Path) -> None:
    text = f"""
[objective]
match_length = true
[model]
base = {json.dumps(str(world / "bert"))}
tuning = "full"
frozen = 0.5
"""
    recipe = write_recipe(world, "full.toml", text, learning_rate=0.002)
    outcome, _ = run(recipe, world / "full")
    assert outcome.steps > 0
    trained = load_file(world / "full" / "weights.safetensors")
    assert {name.split(".")[2] for name in trained} == {"1", "2"}  # the lowest of three layers is frozen
    assert not (world / "full" / "adapter").exists()
    assert len(load_scorer(str(world / "full"), world / "cache", 1).rate("what", [KIND, RUDE])) == 2


def test_it_stops_early_where_the_dev_questions_gain_nothing(world: Path) -> None:
    recipe = write_recipe(world, "patient.toml", patience=2, eval_every=5, epochs=100)
    outcome, told = run(recipe, world / "patient")
    planned = re.search(r"^([\d,]+) steps, about", "\n".join(told), re.MULTILINE)
    assert planned is not None
    assert int(planned[1].replace(",", "")) > 500
    assert outcome.steps < 250
    assert outcome.after["accuracy"] > 0.7


def test_a_measure_that_the_dev_data_does_not_define(world: Path) -> None:
    ties = [{"question": f"q{n}", "answers": ["a", "b"], "preferred": "tie"} for n in range(4)]
    (world / "ties.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ties))
    dev = '[[dev]]\nname = "ties"\nfiles = ["ties.jsonl"]\nlicense = "CC0"\n'
    text = f"{DATA.partition('[split]')[0]}{dev}[split]\ndev = 0.0\ntest = 0.0\n"
    with pytest.raises(InputError, match="4 dev comparisons do not define the measure accuracy"):
        run(write_recipe(world, "ties.toml", f"\n{text}"), world / "ties")


def test_ties_alone_leave_nothing_to_train_on_where_they_are_dropped(world: Path) -> None:
    ties = [{"question": question(n), "answers": [KIND, RUDE], "preferred": "tie"} for n in range(4)]
    (world / "tied.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ties))
    data = DATA.replace("choices.jsonl", "tied.jsonl").replace("0.2", "0.0")
    recipe = write_recipe(world, "dropped.toml", f'{data}[objective]\nties = "drop"\n')
    with pytest.raises(InputError, match="No comparison is left to train on") as error:
        run(recipe, world / "dropped")
    assert 'ties = "soft"' in error.value.hint
    assert not (world / "dropped").exists()


def test_layers_that_are_not_there(world: Path) -> None:
    text = '[model.lora]\ntargets = ["q_proj"]\n'
    with pytest.raises(ModelError, match="has no layers q_proj to adapt"):
        run(write_recipe(world, "layers.toml", text), world / "layers")


def test_a_loss_that_is_no_number_ends_the_run(world: Path) -> None:
    recipe = write_recipe(world, "nan.toml", learning_rate=1e30, clip=1e30, warmup=0.0)
    with pytest.raises(TrainingError, match=r"The loss of step \d+ is "):
        run(recipe, world / "nan")


def run_until_killed(recipe: Path, out: Path) -> None:
    """Be killed after step 20 is measured and before its checkpoint is written."""

    def tell(line: str) -> None:
        if line.startswith("step 20:"):
            os.kill(os.getpid(), signal.SIGKILL)

    run(recipe, out, tell=tell)


def test_a_run_that_was_killed_goes_on_to_the_same_end(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    whole, outcome, _ = trained
    recipe, out = world / "recipe.toml", world / "killed"
    program = (
        "import sys; from pathlib import Path; from tests.scorer.training.test_run import run_until_killed;"
        "run_until_killed(*map(Path, sys.argv[1:]))"
    )
    child = subprocess.run([sys.executable, "-c", program, recipe, out], cwd=Path(__file__).parents[3])
    assert child.returncode == -signal.SIGKILL
    again, told = run(recipe, out)
    assert "resuming after step 10" in told
    assert again.after == outcome.after
    assert again.test == outcome.test
    assert (out / "head.safetensors").read_bytes() == (whole / "head.safetensors").read_bytes()
