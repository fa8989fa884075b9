"""The dual encoder: a tokenizer and an engine for each side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citewell.core.errors import ModelError
from citewell.retriever.encoder.batches import encode_ids
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Engine
from citewell.retriever.encoder.form import TowerForm
from citewell.retriever.encoder.scale import Scale

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Side(NamedTuple):
    """A loaded tower."""

    form: TowerForm
    tokenizer: Tokenizer
    engine: Engine


class TwoTowers:
    """A dual encoder whose two sides may share one tower (see `DualEncoder`)."""

    def __init__(self, name: str, digest: str, max_tokens: int, question: Side, passage: Side) -> None:
        """Encode with two loaded towers. `digest` and `max_tokens` go into the fingerprint."""
        self.name = name
        self.scale = Scale()
        self.dimension = passage.form.dimension
        limits = [min(max_tokens, side.form.limit) for side in (question, passage)]
        self.fingerprint = hashlib.sha256(f"{digest} {limits}".encode()).hexdigest()[:16]
        self._question = question
        self._passage = passage

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Encode `n` questions as an (n, dimension) array; raise `ModelError` if it is not finite."""
        return self._encode(self._question, questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Encode `n` passages as an (n, dimension) array; raise `ModelError` if it is not finite."""
        return self._encode(self._passage, passages)

    def _encode(self, side: Side, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        encodings = side.tokenizer.encode_batch_fast([side.form.prompt + text for text in texts])
        vectors = encode_ids(side.engine, [encoding.ids for encoding in encodings])
        if side.form.normalize:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ModelError(
                f"The encoder {self.name} gives a vector that is not finite for {texts[row][:80]!r}.",
                "Its weights are damaged or its training diverged: use another one or an earlier checkpoint.",
            )
        return vectors
