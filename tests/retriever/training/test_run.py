"""A whole run with a tiny model: it learns, and writes what others can read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from citewell.core.errors import InputError, ModelError
from tests.retriever.training.made_up import write_config, write_world

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.run import Run, RunResult
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.training.run import train


def run(recipe: Path, out: Path) -> tuple[RunResult, list[str]]:
    told: list[str] = []
    made = Run(recipe=recipe, out=out, cache=recipe.parent / "cache", command="citewell train")
    return train(made, told.append), told


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def trained(world: Path) -> tuple[Path, RunResult, list[str]]:
    out = world / "trained"
    return (out, *run(write_config(world, epochs=12), out))


def test_it_learns_to_rank(trained: tuple[Path, RunResult, list[str]]) -> None:
    _, outcome, told = trained
    assert outcome.before.keys() == outcome.after.keys() == {"made-up", "dev"}
    assert outcome.before["dev"] < 0.8
    assert outcome.after["dev"] > 0.9
    assert any("45 training questions" in line for line in told)
    assert any(line.startswith("step 72 of 72") and "questions/s" in line for line in told)


def test_the_model_gives_the_same_vectors_everywhere(
    trained: tuple[Path, RunResult, list[str]],
) -> None:
    from sentence_transformers import SentenceTransformer

    out, _, _ = trained
    model = SentenceTransformer(str(out), device="cpu")
    texts = ["q a", "ax mm", "something longer than that, with more words"]
    ours = load_encoder(str(out), out.parent / "cache", threads=1, engine="torch")
    questions, passages = model.encode_query(texts), model.encode_document(texts)
    np.testing.assert_allclose(ours.encode_questions(texts), questions, atol=1e-5)
    np.testing.assert_allclose(ours.encode_passages(texts), passages, atol=1e-5)
    assert np.abs(questions - passages).max() > 1e-3


def test_the_adapters_make_the_model_of_its_base(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModel

    out, _, _ = trained
    config = json.loads((out / "adapters" / "question" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(world / "bert")
    merged = AutoModel.from_pretrained(out / "query_0_Transformer").state_dict()
    base = AutoModel.from_pretrained(world / "bert")
    again = PeftModel.from_pretrained(base, str(out / "adapters" / "question")).merge_and_unload()
    for name, weight in again.state_dict().items():
        np.testing.assert_allclose(weight.numpy(), merged[name].numpy(), atol=1e-6)


def test_the_card_says_where_the_model_is_from(trained: tuple[Path, RunResult, list[str]]) -> None:
    out, outcome, _ = trained
    card = (out / "README.md").read_text()
    record = json.loads((out / "training.json").read_text())
    assert "| train | made-up | adopted | 45 | `rows.jsonl` | CC0 |" in card
    assert record["data"][0]["sha256"] in card
    assert f"{outcome.after['dev']:.4f}" in card
    assert f"the weights are those of step {outcome.best_step}" in card
    assert "# trained" in card
    assert "trained with Citewell from bert." in card
    assert (out / "training.png").read_bytes().startswith(b"\x89PNG")
    history = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert {"loss", "contrastive", "anchor"} <= history[1].keys()
    assert not (out / "checkpoints").exists()


def test_a_student_learns_from_another_encoder_without_labels(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    out, _, _ = trained
    config = write_config(world, "student.toml", epochs=12)
    objectives = f'''
[[objectives]]
name = "encoder_kl"
encoder = "{out.name}"
license = "CC0"
temperature = 0.2
teacher_temperature = 0.2
'''
    before, rest = config.read_text().split("[[objectives]]", 1)
    config.write_text(before + objectives + "[training]" + rest.split("[training]")[1])
    outcome, _ = run(config, world / "student")
    assert outcome.before["dev"] < 0.8
    assert outcome.after["dev"] > 0.9
    card = (world / "student" / "README.md").read_text()
    assert "Taught by the encoder trained (CC0; SHA-256 " in card


@pytest.mark.parametrize("old", ['encoder = "trained"', "base = "])
def test_a_model_that_is_not_there_leaves_no_folder(world: Path, old: str) -> None:
    config = write_config(world, "missing.toml")
    text = config.read_text().replace(
        'name = "anchor"', 'name = "encoder_kl"\nencoder = "trained"\nlicense = "CC0"'
    )
    config.write_text(text.replace(old, old.split(" = ")[0] + ' = "no-such" #'))
    with pytest.raises(ModelError, match="Unknown model 'no-such'"):
        run(config, world / "missing")
    assert not (world / "missing").exists()


def test_a_model_that_is_there_is_never_overwritten(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    out, _, _ = trained
    with pytest.raises(InputError, match="holds a trained model already"):
        run(write_config(world, epochs=8), out)
    other = world / "other"
    other.mkdir()
    (other / "thesis.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        run(write_config(world), other)


def test_all_weights_of_one_tower_for_both_sides(world: Path) -> None:
    config = write_config(world, "full.toml", epochs=1, eval_every=50)
    text = config.read_text().replace("[model]", '[model]\ntuning = "full"\ntowers = "shared"')
    config.write_text(text)
    out = world / "full"
    run(config, out)
    assert not (out / "adapters").exists()
    encoder = load_encoder(str(out), world / "cache", threads=1, engine="torch")
    np.testing.assert_array_equal(encoder.encode_questions(["q a"]), encoder.encode_passages(["q a"]))


def test_it_ends_when_the_dev_metric_no_longer_grows(world: Path) -> None:
    # With a rate this small nothing changes.
    outcome, _ = run(write_config(world, learning_rate=1e-9, patience=2, epochs=20), world / "patient")
    assert (outcome.steps, outcome.best_step) == (12, 4)


def test_it_learns_in_bfloat16_as_on_a_gpu(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for bfloat16 in (False, True):
        monkeypatch.setattr("citewell.core.training.trainer.uses_bfloat16", lambda _, now=bfloat16: now)
        out = world / f"bfloat16-{bfloat16}"
        run(write_config(world, "steps.toml", steps=4, log_every=1), out)
        lines = map(json.loads, (out / "training.jsonl").read_text().splitlines())
        found[bfloat16] = [line["loss"] for line in lines if "loss" in line]
        assert load_encoder(str(out), world / "cache", threads=1, engine="torch").dimension == 32
    assert len(found[True]) == 4
    assert found[True] != found[False]
    assert found[True] == pytest.approx(found[False], rel=0.05)


def test_a_loss_that_is_no_number_ends_the_run(world: Path) -> None:
    out = world / "nan"
    with pytest.raises(TrainingError, match=r"The loss of step \d+, whose batch has \d questions .*, is nan"):
        run(write_config(world, learning_rate=1e30, clip=1e30, eval_every=3, warmup=0.0), out)
    assert not (out / "modules.json").exists()


def test_scores_that_are_no_numbers_end_the_run(world: Path) -> None:
    out = world / "nan-scores"
    with pytest.raises(TrainingError, match="scores that are not finite"):
        run(write_config(world, learning_rate=1e30, clip=1e30, eval_every=1, warmup=0.0), out)
    assert not (out / "modules.json").exists()


def test_a_run_is_resumed_only_with_its_own_recipe_and_data(world: Path) -> None:
    out = world / "nan"
    changes = {"learning_rate": 1e30, "clip": 1e30, "eval_every": 3, "warmup": 0.0}
    with pytest.raises(InputError, match=r"has another recipe: training\.seed differs"):
        run(write_config(world, seed=5, **changes), out)
    rows = world / "rows.jsonl"
    before = rows.read_text()
    rows.write_text(before + before.splitlines()[0] + "\n")
    with pytest.raises(InputError, match=r"changed since: rows\.jsonl differs"):
        run(write_config(world, **changes), out)
    rows.write_text(before)
    with pytest.raises(TrainingError):
        run(write_config(world, **changes), out)


def test_a_run_is_resumed_only_with_its_own_corpus(world: Path) -> None:
    corpus, out = world / "corpus.jsonl", world / "nan-corpus"
    row = json.dumps({"question": "q a", "positive": [{"title": "", "text": "ax mm"}]}) + "\n"
    corpus.write_text(row)
    config = write_config(world, learning_rate=1e30, clip=1e30, eval_every=3, warmup=0.0)
    config.write_text(config.read_text() + '\n[mining]\ncorpus = ["corpus.jsonl"]\n')
    with pytest.raises(TrainingError):
        run(config, out)
    corpus.write_text(row * 2)
    with pytest.raises(InputError, match=r"changed since: corpus\.jsonl differs"):
        run(config, out)


def test_two_processes_cannot_train_in_one_folder(world: Path) -> None:
    out = world / "shared"
    out.mkdir()
    with FileLock(out / "lock"), pytest.raises(InputError, match="Another process is training in"):
        run(write_config(world), out)


def test_the_average_of_the_weights_is_saved(world: Path) -> None:
    result, _ = run(write_config(world, ema=0.9, epochs=4), world / "averaged")
    assert result.after["dev"] > result.before["dev"]
    assert "averaged with a decay of 0.9" in (world / "averaged" / "README.md").read_text()


def test_the_adapters_of_each_tower_open_in_sentence_transformers(
    trained: tuple[Path, RunResult, list[str]],
) -> None:
    from sentence_transformers import SentenceTransformer

    out, _, _ = trained
    whole = SentenceTransformer(str(out), device="cpu")
    texts = ["q a", "ax mm"]
    question, passage = (
        SentenceTransformer(str(out / "adapters" / side), device="cpu") for side in ("question", "passage")
    )
    np.testing.assert_allclose(question.encode(texts), whole.encode_query(texts), atol=1e-5)
    np.testing.assert_allclose(passage.encode(texts), whole.encode_document(texts), atol=1e-5)
