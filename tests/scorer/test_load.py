"""Scorers that are damaged, of another model, or none, and inputs that nobody should send."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from citewell.core.errors import ModelError
from citewell.scorer.encode import InputTokenizer
from citewell.scorer.form import Form, InputLayout, write_form
from citewell.scorer.load import PreferenceScorer, load_scorer
from citewell.scorer.model import load_base
from tests.scorer.training.made_up import write_bert

FORM = {
    "tuning": "full",
    "pooling": "mean",
    "layout": InputLayout(max_tokens=24, question_tokens=4, references=2),
    "mean": 0.5,
    "std": 2.0,
    "elo": 1.0,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scorer whose head was drawn at random."""
    world = tmp_path_factory.mktemp("world")
    write_bert(world / "bert")
    folder = world / "scorer"
    folder.mkdir()
    write_form(Form(base=str(world / "bert"), **FORM), folder)
    torch.manual_seed(1)
    save_file({"weight": torch.randn(1, 32), "bias": torch.zeros(1)}, folder / "head.safetensors")
    save_file({}, folder / "weights.safetensors")
    return folder


@pytest.fixture(scope="module")
def scorer(made: Path) -> PreferenceScorer:
    return load_scorer(str(made), made.parent / "cache", 1)


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_batch_scores_as_one_by_one(scorer: PreferenceScorer) -> None:
    answers = ["kind", "it is rude and so it is", "", "the the the the", "清楚 и ясно 🙂", "kind\0"]
    together = scorer.rate("what amber", answers)
    alone = [scorer.rate("what amber", [answer])[0] for answer in answers]
    assert together == pytest.approx(alone, abs=1e-5)
    assert len(set(together[:2])) == 2


def test_references_are_read_where_the_layout_has_them(scorer: PreferenceScorer) -> None:
    assert scorer.with_references
    with_them, without = scorer.rate("what", ["it is"] * 2, [["kind", "warm"], []])
    assert with_them != pytest.approx(without, abs=1e-4)
    with pytest.raises(ValueError, match="zip"):
        scorer.rate("what", ["it is"] * 2, [["kind"]])


@pytest.mark.alone
def test_a_huge_answer_is_cut_before_it_takes_time(scorer: PreferenceScorer) -> None:
    start = time.monotonic()
    huge, short = scorer.rate("what " * 200_000, ["kind " * 200_000, "kind " * 30], [["warm " * 200_000], []])
    assert time.monotonic() - start < 2
    assert huge == pytest.approx(short, abs=1e-5)


def test_the_layout_is_kept_to(made: Path) -> None:
    base = load_base(str(made.parent / "bert"), made.parent / "cache")
    encoder = InputTokenizer(base.tokenizer, InputLayout(max_tokens=24, question_tokens=4, references=2))

    def words(*texts: str) -> str:
        return base.tokenizer.decode(encoder.encode(*texts[:2], texts[2:]).ids)

    assert words("what is amber", "it is kind", "so") == "[CLS] what is amber [SEP] so [SEP] it is kind [SEP]"
    long = encoder.encode("amber " * 9 + "birch", "kind " * 50, ["warm " * 50])
    assert len(long.ids) == 24
    assert long.answer == 24 - 1 - 4 - 1 - 1
    middle = encoder.encode("what amber is so it of birch", "kind").ids[1:5]
    assert base.tokenizer.decode(middle) == "what amber of birch"
    shared = encoder.encode("what", "kind", ["warm " * 50, "clear " * 50, "cold"])
    text = base.tokenizer.decode(shared.ids)
    assert len(shared.ids) <= 24
    assert abs(text.count("warm") - text.count("clear")) <= 1
    assert "cold" not in text


@pytest.mark.parametrize("name", ["no-such-scorer", "/nowhere/at/all", ""])
def test_no_such_scorer(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"Unknown scorer '{name}'. Give one of citewell-scorer"):
        load_scorer(name, tmp_path, 1)


def test_a_base_of_another_size_does_not_fit(copy: Path, tmp_path: Path) -> None:
    write_bert(tmp_path / "wide", hidden=48)
    form = json.loads((copy / "scorer.json").read_text())
    (copy / "scorer.json").write_text(json.dumps(form | {"base": str(tmp_path / "wide")}))
    with pytest.raises(ModelError, match=r"The head in .* does not fit its model: weight is"):
        load_scorer(str(copy), tmp_path, 1)


def test_weights_of_a_layer_that_is_not_there(copy: Path, tmp_path: Path) -> None:
    save_file({"encoder.layer.9.output.dense.weight": torch.zeros(2, 2)}, copy / "weights.safetensors")
    with pytest.raises(ModelError, match=r"does not fit its model: encoder\.layer\.9"):
        load_scorer(str(copy), tmp_path, 1)


def test_damaged_files(copy: Path, tmp_path: Path) -> None:
    head = (copy / "head.safetensors").read_bytes()
    (copy / "head.safetensors").write_bytes(head[:-7])
    with pytest.raises(ModelError, match=r"The head in .* cannot be read"):
        load_scorer(str(copy), tmp_path, 1)
    form = json.loads((copy / "scorer.json").read_text())
    (copy / "scorer.json").write_text(json.dumps(form | {"std": 0}))
    with pytest.raises(ModelError, match=r"scorer\.json cannot be read: std"):
        load_scorer(str(copy), tmp_path, 1)
    (copy / "scorer.json").write_text("{")
    with pytest.raises(ModelError, match=r"scorer\.json cannot be read"):
        load_scorer(str(copy), tmp_path, 1)


def test_a_score_that_is_no_number_is_an_error(copy: Path, tmp_path: Path) -> None:
    head = load_file(copy / "head.safetensors")
    save_file(head | {"bias": torch.tensor([torch.nan])}, copy / "head.safetensors")
    with pytest.raises(ModelError, match="a score that is not a number"):
        load_scorer(str(copy), tmp_path, 1).rate("what", ["kind"])
