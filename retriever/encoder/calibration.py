"""Measurement of an encoder's scale on questions and passages that come with Citewell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from citewell.retriever.encoder.encoder import DualEncoder
from citewell.retriever.encoder.scale import Scale

_PAIRS = Path(__file__).parent / "pairs.jsonl"


def measure_scale(encoder: DualEncoder) -> Scale:
    """Encode 32 questions with a passage each, and return the scale of their inner products.

    An encoder that does not tell its pairs from others, such as one of random weights, gets the scale that
    changes nothing.
    """
    rows = [json.loads(line) for line in _PAIRS.read_text(encoding="utf-8").splitlines()]
    questions = encoder.encode_questions([row["question"] for row in rows])
    products = questions @ encoder.encode_passages([row["passage"] for row in rows]).T
    others = products[~np.eye(len(rows), dtype=bool)]
    unrelated, matching = float(others.mean()), float(np.diag(products).mean())
    return Scale(unrelated, matching) if matching > unrelated + float(others.std()) else Scale()
