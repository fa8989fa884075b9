"""The cross-encoder of the settings orders the references."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import ModelError
from citewell.core.settings import load_settings
from citewell.core.text import encoded_text
from citewell.core.types import Passage
from citewell.pipeline.parts import build_ranker
from citewell.retriever.cross_encoder.load import load_cross_encoder
from tests.retriever.cross_encoder.test_load import write_cross_encoder

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")

TEXTS = (
    "Bats call in the dark and listen to the echo of their own voices, which tells them where moths are.",
    "Whales call over great distances in the dark sea, and other whales answer them with songs of their own.",
    "A lens of glass bends the light that passes through it, so that a lamp seems to be nearer than it is.",
)


def test_the_named_cross_encoder_decides(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "tiny", "bert")
    flags = {"retriever.reranker": str(folder), "retriever.rerank_weight": 1e7}
    ranker = build_ranker(load_settings(flags))
    passages = [Passage(f"https://p{n}.example/", "Page", text) for n, text in enumerate(TEXTS)]
    found = ranker.rank("How do bats call in the dark?", passages, 3)
    settings = load_settings(flags)
    model = load_cross_encoder(str(folder), settings.cache_dir, threads=1)
    texts = [encoded_text(passage.title, passage.text) for passage in passages]
    scores = model.scores("How do bats call in the dark?", texts)
    assert [reference.text for reference in found] == [TEXTS[row] for row in np.argsort(-scores)]


def test_an_unknown_cross_encoder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Unknown model 'nothing'"):
        build_ranker(load_settings({"retriever.reranker": "nothing"}))
