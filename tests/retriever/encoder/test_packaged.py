"""The packaged encoders as they are used, int8, against the same weights in full precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.core.weights import locate
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.encoder.load import encoder_folder, load_encoder
from citewell.retriever.rank import Ranker

TEXTS = [
    "Why is the sky blue?",
    "The sky is blue because air scatters short wavelengths of sunlight more than long ones.",
    "",
    "a",
    "天空为什么是蓝色的？",
    "Crème brûlée, 1,000 €!",
    "A very long passage about nothing in particular. " * 60,
    "Bread rises because yeast gives off carbon dioxide.",
    "def f(x): return x ** 2",
    "It was first sold in 1928, in Chillicothe.",
]


@pytest.fixture(scope="module")
def reference() -> Vectors:
    """Mean-pooled and normalized vectors of `TEXTS`, computed by transformers in float32."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = locate("all-MiniLM-L6-v2").path
    assert folder is not None
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(TEXTS, padding=True, truncation=True, max_length=128, return_tensors="pt")
    with torch.no_grad():
        states = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1)
    pooled = (states * mask).sum(1) / mask.sum(1)
    return np.asarray(torch.nn.functional.normalize(pooled))


def test_vectors_are_those_of_full_precision(encoder: DualEncoder, reference: Vectors) -> None:
    cosines = (encoder.encode_passages(TEXTS) * reference).sum(axis=1)
    assert cosines[[index for index, text in enumerate(TEXTS) if text]].min() > 0.99
    # Without a word there is nothing to average the rounding over.
    assert cosines[TEXTS.index("")] > 0.97


def test_int8_vectors_of_e5_are_those_of_full_precision(cache: Path) -> None:
    fast = load_encoder("e5-small", cache, max_tokens=128, threads=2, engine="openvino")
    exact = load_encoder("e5-small", cache, max_tokens=128, threads=2, engine="torch")
    assert fast.fingerprint == exact.fingerprint
    for encode in ("encode_questions", "encode_passages"):
        ours, theirs = (getattr(encoder, encode)(TEXTS) for encoder in (fast, exact))
        assert (ours * theirs).sum(axis=1).min() > 0.99
    # The two sides have one model, and differ by their prefixes.
    folder = encoder_folder("e5-small", cache, engine="openvino")
    assert len(list(folder.glob("*/model.bin"))) == 1
    assert (fast.encode_questions(TEXTS[:2]) * fast.encode_passages(TEXTS[:2])).sum(axis=1).max() < 0.99


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "e5-small", "citewell-minilm"])
def test_relevance_has_one_scale_for_all_encoders(cache: Path, name: str) -> None:
    ranker = Ranker(load_encoder(name, cache, max_tokens=128, threads=2), prefilter=48)
    answer, other = ranker.scores(TEXTS[0], [TEXTS[1], TEXTS[7]])
    assert answer > 0.5
    assert other < 0.3


def test_both_sides_give_unit_vectors_of_one_dimension(encoder: DualEncoder) -> None:
    questions, passages = encoder.encode_questions(TEXTS[:3]), encoder.encode_passages(TEXTS)
    assert questions.shape == (3, 384)
    assert passages.shape == (len(TEXTS), 384)
    assert np.linalg.norm(passages, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert np.isfinite(passages).all()


def test_order_is_kept_whatever_the_lengths(encoder: DualEncoder) -> None:
    # Enough tokens for many batches, which are made by length.
    texts = [f"{text} {n}" for n in range(12) for text in TEXTS]
    together = encoder.encode_passages(texts)
    for index in range(0, len(texts), 7):
        (alone,) = encoder.encode_passages([texts[index]])
        assert together[index] @ alone > 0.99
        assert np.argmax(together @ alone) == index or together[index] @ alone > 0.999


def test_nothing_gives_nothing(encoder: DualEncoder) -> None:
    assert encoder.encode_passages([]).shape == (0, 384)
    assert encoder.encode_questions([]).shape == (0, 384)


def test_text_beyond_the_limit_is_not_read(cache: Path) -> None:
    short = load_encoder("all-MiniLM-L6-v2", cache, max_tokens=16, threads=1)
    beginning = "The sky is blue because air scatters short wavelengths of sunlight more than long ones"
    one, other = short.encode_passages([f"{beginning} indeed", f"{beginning} while bread rises with yeast"])
    assert one @ other == pytest.approx(1.0, abs=1e-5)


def test_a_limit_beyond_the_models_own_is_cut_to_it(cache: Path) -> None:
    greedy = load_encoder("all-MiniLM-L6-v2", cache, max_tokens=100_000, threads=1)
    assert greedy.encode_passages(["word " * 3000]).shape == (1, 384)
