"""The teacher's folder is read as an encoder with its prompts, by Citewell and by sentence-transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retriever.encoder.load import load_encoder
from retriever.encoder.resolve import resolve
from tests.retriever.encoder.conftest import write_bert

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")

from benchmarks.teacher_encoder import PROMPTS, write


def test_the_prompts_stand_before_questions_and_passages(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    out = tmp_path / "teacher"
    write(write_bert(tmp_path / "bert"), out)
    towers = resolve(str(out))
    assert (towers.question.prompt, towers.passage.prompt) == (PROMPTS["query"], PROMPTS["document"])
    assert towers.question.normalise
    ours = load_encoder(str(out), tmp_path / "cache", threads=1, engine="torch")
    model = SentenceTransformer(str(out), device="cpu")
    texts = ["q a", "ax mm"]
    np.testing.assert_allclose(ours.encode_questions(texts), model.encode_query(texts), atol=1e-5)
    np.testing.assert_allclose(ours.encode_passages(texts), model.encode_document(texts), atol=1e-5)
    assert np.abs(ours.encode_questions(texts) - ours.encode_passages(texts)).max() > 1e-3
