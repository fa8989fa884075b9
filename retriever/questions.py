"""A dual encoder that encodes a question once, even if several parts need its vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from citewell.retriever.encoder.encoder import DualEncoder, Vectors

_KEPT = 256


class RememberedQuestions:
    """A `DualEncoder` that keeps the vectors of the last questions."""

    def __init__(self, encoder: DualEncoder) -> None:
        """Encode with `encoder`."""
        self.name = encoder.name
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension
        self.scale = encoder.scale
        self._encoder = encoder
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Encode `n` questions as an (n, dimension) array."""
        with self._lock:
            found = {question: self._kept[question] for question in questions if question in self._kept}
            if missing := [question for question in dict.fromkeys(questions) if question not in found]:
                made = dict(zip(missing, self._encoder.encode_questions(missing), strict=True))
                found |= made
                self._kept |= made
            for question in questions:
                self._kept.move_to_end(question)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        if not found:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([found[question] for question in questions])

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Encode `n` passages as an (n, dimension) array."""
        return self._encoder.encode_passages(passages)
