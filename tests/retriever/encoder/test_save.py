"""What is saved, against plain sentence-transformers."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import InputError
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.encoder.resolve import ADAPTERS
from citewell.retriever.encoder.save import save_dual_encoder

from .conftest import TEXTS, write_adapter

pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed (extra train)")

SENTENCES = [
    "Why is the sky blue?",
    "The sky is blue because air scatters short wavelengths of sunlight more than long ones.",
    "Bread rises because yeast gives off carbon dioxide.",
    "It was first sold in 1928, in Chillicothe. " * 40,
]


def least_cosine(one: np.ndarray, other: np.ndarray) -> float:
    products = (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    return float(products.min())


def test_two_towers_as_sentence_transformers_loads_them(bert: Path, tmp_path: Path) -> None:
    """Unnormalized towers with an adapter each."""
    from sentence_transformers import SentenceTransformer

    for seed, side in enumerate(("query_encoder", "reference_encoder")):
        write_adapter(bert, tmp_path / "pair" / side, seed=seed)
    saved = tmp_path / "saved"
    save_dual_encoder(str(tmp_path / "pair"), saved)
    plain = SentenceTransformer(str(saved), device="cpu")
    ours = load_encoder(str(saved), tmp_path, threads=1, engine="torch")
    before = load_encoder(str(tmp_path / "pair"), tmp_path, threads=1, engine="torch")
    for found in (ours, before):
        np.testing.assert_allclose(found.encode_questions(TEXTS), plain.encode_query(TEXTS), atol=1e-4)
        np.testing.assert_allclose(found.encode_passages(TEXTS), plain.encode_document(TEXTS), atol=1e-4)
    assert least_cosine(plain.encode_query(TEXTS), plain.encode_document(TEXTS)) < 0.9


def test_the_packaged_model(tmp_path: Path, cache: Path) -> None:
    """Real weights: float32 gives the same vectors, and int8 nearly the same."""
    from sentence_transformers import SentenceTransformer

    from citewell.core.weights import locate

    base = locate("all-MiniLM-L6-v2").path
    assert base is not None
    saved = tmp_path / "saved"
    save_dual_encoder("all-MiniLM-L6-v2", saved)
    assert len(list(saved.rglob("model.safetensors"))) == 1  # both sides are the same
    plain = SentenceTransformer(str(saved), device="cpu")
    expected = SentenceTransformer(str(base), device="cpu").encode(SENTENCES)
    np.testing.assert_allclose(plain.encode_document(SENTENCES), expected, atol=1e-5)
    exact = load_encoder(str(saved), tmp_path, threads=2, engine="torch")
    assert least_cosine(exact.encode_questions(SENTENCES), plain.encode_query(SENTENCES)) > 0.9999
    assert least_cosine(exact.encode_passages(SENTENCES), plain.encode_document(SENTENCES)) > 0.9999
    fast = load_encoder("all-MiniLM-L6-v2", cache, threads=2)
    assert least_cosine(fast.encode_questions(SENTENCES), plain.encode_query(SENTENCES)) > 0.99
    assert least_cosine(fast.encode_passages(SENTENCES), plain.encode_document(SENTENCES)) > 0.99


@pytest.mark.parametrize("name", sorted(path.name for path in ADAPTERS.glob("*")))
def test_an_encoder_that_comes_with_citewell(name: str, tmp_path: Path, cache: Path) -> None:
    from sentence_transformers import SentenceTransformer

    save_dual_encoder(name, tmp_path / "saved")
    plain = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    exact = load_encoder(name, tmp_path, threads=2, engine="torch")
    assert least_cosine(exact.encode_questions(SENTENCES), plain.encode_query(SENTENCES)) > 0.9999
    assert least_cosine(exact.encode_passages(SENTENCES), plain.encode_document(SENTENCES)) > 0.9999
    fast = load_encoder(name, cache, threads=2)
    assert least_cosine(fast.encode_questions(SENTENCES), plain.encode_query(SENTENCES)) > 0.99
    assert least_cosine(fast.encode_passages(SENTENCES), plain.encode_document(SENTENCES)) > 0.99
    assert least_cosine(exact.encode_questions(SENTENCES), exact.encode_passages(SENTENCES)) < 0.9999
    assert fast.fingerprint == exact.fingerprint


def test_prompts_are_put_before_either_side(bert: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    modules = [Transformer(str(bert)), Pooling(64, "cls")]
    prompts = {"query": "ask. ", "document": "tell. "}
    plain = SentenceTransformer(modules=modules, prompts=prompts, device="cpu")
    plain.save(str(tmp_path / "prompted"), create_model_card=False)
    ours = load_encoder(str(tmp_path / "prompted"), tmp_path, threads=1, engine="torch")
    np.testing.assert_allclose(ours.encode_questions(TEXTS), plain.encode_query(TEXTS), atol=1e-4)
    np.testing.assert_allclose(ours.encode_passages(TEXTS), plain.encode_document(TEXTS), atol=1e-4)


def test_nothing_is_overwritten(bert: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="already exists"):
        save_dual_encoder(str(bert), tmp_path / "there")
    shutil.rmtree(tmp_path / "there")
    save_dual_encoder(str(bert), tmp_path / "there")
    assert (tmp_path / "there" / "modules.json").is_file()
