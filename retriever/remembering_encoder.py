"""A dual encoder that encodes a text once, even if several parts of the pipeline need its vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

from citewell.retriever.encoder.encoder import DualEncoder, Vectors

_QUESTIONS, _PASSAGES = 256, 4096
"""How many vectors are kept: the passages' take 6 MB."""


class RememberingEncoder:
    """A `DualEncoder` that keeps the vectors of the last questions and passages."""

    def __init__(self, encoder: DualEncoder) -> None:
        """Encode with `encoder`."""
        self.name = encoder.name
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension
        self.scale = encoder.scale
        self._questions = _KeptVectors(encoder.encode_questions, _QUESTIONS)
        self._passages = _KeptVectors(encoder.encode_passages, _PASSAGES)

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Encode `n` questions as an (n, dimension) array."""
        return self._stacked(self._questions.of(questions))

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Encode `n` passages as an (n, dimension) array."""
        return self._stacked(self._passages.of(passages))

    def _stacked(self, vectors: list[Vectors]) -> Vectors:
        return np.stack(vectors) if vectors else np.zeros((0, self.dimension), dtype=np.float32)


class _KeptVectors:
    def __init__(self, encode: Callable[[Sequence[str]], Vectors], most: int) -> None:
        self._encode = encode
        self._most = most
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def of(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the vector of each text; only those that are not kept are encoded."""
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            found |= zip(missing, map(np.copy, self._encode(missing)), strict=True)
        with self._lock:
            self._kept |= found
            for text in found:
                self._kept.move_to_end(text)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return [found[text] for text in texts]
