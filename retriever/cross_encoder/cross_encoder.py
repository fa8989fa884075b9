"""The protocol of cross-encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citewell.retriever.encoder.encoder import Vectors


class CrossEncoder(Protocol):
    """A model that reads a question together with a passage; slower than a dual encoder, and more exact.

    `fingerprint` changes with any weight and with the limit of tokens.
    """

    name: str
    fingerprint: str

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        """Return the logit of the probability that each of `n` passages answers the question, (n,)."""
        ...
