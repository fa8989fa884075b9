"""A whole run with a tiny model: it learns, and writes a cross-encoder that OpenVINO runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import InputError, ModelError
from tests.retriever.cross_encoder.made_up import write_recipe
from tests.retriever.training.made_up import write_world

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

from citewell.core.training.precision import uses_bfloat16
from citewell.core.training.run import Run, RunResult
from citewell.retriever.cross_encoder.load import load_cross_encoder
from citewell.retriever.cross_encoder.training.run import train


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
    return (out, *run(write_recipe(world, epochs=20), out))


def test_it_learns_to_rank(trained: tuple[Path, RunResult, list[str]]) -> None:
    _, outcome, told = trained
    assert outcome.before.keys() == outcome.after.keys() == {"made-up", "made-up_alone", "dev"}
    assert outcome.before["dev"] < 0.8
    assert outcome.after["made-up_alone"] > 0.9
    assert any(line.startswith("step 120 of 120") and "tokens/s" in line for line in told)


def test_excluded_questions_are_not_trained_on(trained: tuple[Path, RunResult, list[str]]) -> None:
    assert any("44 training questions" in line for line in trained[2])


def test_the_answer_has_the_best_score_in_openvino(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    loaded = load_cross_encoder(str(trained[0]), world / "cache", threads=1)
    right = 0
    for line in (world / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        scores = loaded.scores(row["question"], row["references"])
        right += int(np.argmax(scores)) == 0
    assert right > 54
    assert loaded.scores("aaa qa", []).shape == (0,)
    assert len(loaded.fingerprint) == 16


def test_int8_agrees_with_the_trained_model(trained: tuple[Path, RunResult, list[str]], world: Path) -> None:
    import torch
    from peft import PeftModel
    from safetensors.torch import load_file
    from transformers import AutoModel

    out, _, _ = trained
    loaded = load_cross_encoder(str(out), world / "cache", threads=2)
    # [CLS] a ##a [SEP] b ##b . [SEP] by the vocabulary of `tests.retriever.encoder.conftest`
    texts = ["bbb.", "ggg x mmmm"]
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(world / "bert" / "tokenizer.json"))
    tokenizer.no_padding()
    model = PeftModel.from_pretrained(AutoModel.from_pretrained(world / "bert"), str(out / "adapter")).eval()
    head = load_file(out / "head.safetensors")
    expected = []
    for text in texts:
        ids = tokenizer.encode("aaa qb").ids + tokenizer.encode(text).ids[1:]
        with torch.inference_mode():
            states = model(input_ids=torch.tensor([ids])).last_hidden_state
        expected.append(float((states.mean(dim=1) @ head["weight"].T + head["bias"])[0, 0]))
    np.testing.assert_allclose(loaded.scores("aaa qb", texts), expected, atol=0.25)


def test_a_long_question_leaves_room_for_the_passage(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    loaded = load_cross_encoder(str(trained[0]), world / "cache", threads=1)
    first, second = loaded.scores("a b c d e f " * 30, ["bbb", "ccc"])
    assert first != second


def test_a_run_is_resumed_to_the_same_end(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from citewell.core.training import progress
    from citewell.core.training.run import RunResult

    whole, _ = run(write_recipe(world, "whole.toml", epochs=2), world / "whole")
    stopped = write_recipe(world, "stopped.toml", epochs=2)
    save = progress.Progress.on_step_end

    def stop(self: progress.Progress, args: object, state: object, control: object, **rest: object) -> None:
        save(self, args, state, control, **rest)
        if state.global_step == 10:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Progress, "on_step_end", stop)
    with pytest.raises(KeyboardInterrupt):
        run(stopped, world / "stopped")
    monkeypatch.undo()
    resumed, told = run(stopped, world / "stopped")
    assert isinstance(resumed, RunResult)
    assert any("resuming after step 8" in line for line in told)
    assert resumed.after == pytest.approx(whole.after, abs=1e-4)


def test_bfloat16_is_what_the_steps_are_computed_in_where_it_pays(world: Path) -> None:
    losses = {}
    for precision in ("float32", "bfloat16"):
        recipe = write_recipe(world, f"{precision}.toml", steps=4, log_every=1, precision=precision)
        run(recipe, world / precision)
        lines = (world / precision / "training.jsonl").read_text().splitlines()
        losses[precision] = [row["loss"] for row in map(json.loads, lines) if "loss" in row]
    assert (losses["float32"] != losses["bfloat16"]) is uses_bfloat16("bfloat16")
    assert losses["float32"] == pytest.approx(losses["bfloat16"], rel=0.05)


def test_a_run_starts_from_a_trained_cross_encoder(
    trained: tuple[Path, RunResult, list[str]], world: Path
) -> None:
    recipe = write_recipe(world, "further.toml", start=str(trained[0]), steps=1, learning_rate=1e-6)
    further, _ = run(recipe, world / "further")
    assert further.before == pytest.approx(trained[1].after, abs=0.01)


@pytest.mark.parametrize(("start", "rank"), [("trained", 4), ("bert", 8)])
def test_a_start_of_another_form_is_refused(
    trained: tuple[Path, RunResult, list[str]], world: Path, start: str, rank: int
) -> None:
    recipe = write_recipe(world, f"other-{start}.toml", start=str(world / start), rank=rank)
    with pytest.raises(ModelError, match="cannot be the start"):
        run(recipe, world / f"other-{start}")


def test_the_card_says_where_the_model_is_from(trained: tuple[Path, RunResult, list[str]]) -> None:
    card = (trained[0] / "README.md").read_text()
    assert "| train | made-up | adopted | 44 | `rows.jsonl` | CC0 |" in card
    assert f"{trained[1].after['dev']:.4f}" in card


def test_a_trained_folder_is_not_overwritten(trained: tuple[Path, RunResult, list[str]], world: Path) -> None:
    with pytest.raises(InputError, match="holds a trained model already"):
        run(world / "reranker.toml", trained[0])


@pytest.mark.parametrize(("label", "told"), [("rankings", "gives -0.693"), ("judgments", "gives 3")])
def test_labels_that_are_no_probabilities_are_refused(world: Path, label: str, told: str) -> None:
    folder = world / "graded"
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    documents = "".join(json.dumps({"_id": each, "title": "", "text": each * 3}) + "\n" for each in "bc")
    (folder / "corpus.jsonl").write_text(documents)
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "aaa"}\n')
    (folder / "teacher.jsonl").write_text('{"query_id": "1", "ranking": ["b", "c"]}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tb\t3\n1\tc\t0\n")
    recipe = write_recipe(world, f"{label}.toml")
    old = 'files = ["rows.jsonl"]\nformat = "references"\nlabel = "adopted"\nlicense = "CC0"\nheld_out = 15'
    new = f'files = ["graded"]\nformat = "beir"\nlabel = "{label}"\nlicense = "CC0"'
    recipe.write_text(recipe.read_text().replace(old, new))
    with pytest.raises(InputError, match=f"label {label} of the source made-up {told}, and a cross-encoder"):
        run(recipe, world / label)
    assert not (world / label).exists()
