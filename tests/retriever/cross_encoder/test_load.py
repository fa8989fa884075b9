"""Loading: cross-encoders of sentence-transformers, of any architecture, and what is said of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import ModelError
from citewell.retriever.cross_encoder.load import load_cross_encoder
from tests.retriever.encoder.conftest import VOCABULARY, write_bert

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")

PASSAGES = ["the sky is blue.", "a", "zz yy xx ww vv uu tt ss rr qq pp oo nn"]


def write_cross_encoder(folder: Path, kind: str, labels: int = 1) -> Path:
    """A cross-encoder of random weights, as transformers writes it."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    write_bert(folder)
    (folder / "model.safetensors").unlink()
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    if kind == "modernbert":
        marks = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
        sizes |= marks | {"bos_token_id": 2, "eos_token_id": 3}
    config = AutoConfig.for_model(
        kind, vocab_size=len(VOCABULARY), max_position_embeddings=128, num_labels=labels, **sizes
    )
    torch.manual_seed(1)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["bert", "modernbert"])
def test_it_gives_the_logits_of_sentence_transformers(kind: str, tmp_path: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    folder = write_cross_encoder(tmp_path / kind, kind)
    loaded = load_cross_encoder(str(folder), tmp_path / "cache", max_tokens=64, threads=1)
    theirs = CrossEncoder(str(folder), device="cpu", max_length=64)
    pairs = [("what is blue", passage) for passage in PASSAGES]
    expected = theirs.predict(pairs, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(loaded.scores("what is blue", PASSAGES), expected, atol=1e-5)
    assert loaded.scores("what is blue", []).shape == (0,)


def test_a_folder_that_sentence_transformers_saved(tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    folder = write_cross_encoder(tmp_path / "made", "modernbert")
    CrossEncoder(str(folder), device="cpu").save_pretrained(str(tmp_path / "saved"))
    scores = [
        load_cross_encoder(str(each), tmp_path / "cache", threads=1).scores("what", PASSAGES)
        for each in (folder, tmp_path / "saved")
    ]
    np.testing.assert_allclose(*scores, atol=1e-5)


def test_long_passages_are_cut(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "bert", "bert")
    loaded = load_cross_encoder(str(folder), tmp_path / "cache", max_tokens=16, threads=1)
    same, longer = loaded.scores("why", ["a b c d e f g h i j k l m n", "a b c d e f g h i j k l m n" * 9])
    assert same == pytest.approx(longer, abs=1e-5)


def test_passages_longer_than_the_model_reads_are_cut(tmp_path: Path) -> None:
    """Its tokenizer may not say where the positions of the weights end."""
    folder = write_cross_encoder(tmp_path / "bert", "bert")
    loaded = load_cross_encoder(str(folder), tmp_path / "cache", max_tokens=256, threads=1)
    same, longer = loaded.scores("why", ["a b c d e f g h i j " * 20, "a b c d e f g h i j " * 30])
    assert same == pytest.approx(longer, abs=1e-5)


def test_a_classifier_of_several_labels_is_refused(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "nli", "bert", labels=3)
    with pytest.raises(ModelError, match="has 3 outputs"):
        load_cross_encoder(str(folder), tmp_path / "cache", threads=1)


def test_a_name_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Unknown model 'nothing'"):
        load_cross_encoder("nothing", tmp_path / "cache", threads=1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="holds no model"):
        load_cross_encoder(str(tmp_path / "empty"), tmp_path / "cache", threads=1)


def test_a_damaged_form_is_named(tmp_path: Path) -> None:
    (tmp_path / "cross_encoder.json").write_text('{"version": 1}')
    with pytest.raises(ModelError, match="cannot be read"):
        load_cross_encoder(str(tmp_path), tmp_path / "cache", threads=1)
