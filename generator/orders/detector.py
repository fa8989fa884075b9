"""The detector of orders: a linear model of concepts, their pairs and the encoder's vector of a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.generator.orders.features import FEATURES, Numbers, found, with_pairs

WEIGHTS = Path(__file__).parent / "weights.json"
"""Written by `python -m benchmarks.orders.train`."""

_MARK = re.compile(r"(?:[,;:)\]]|--?>)\s+")
_FEWEST_WORDS = 4
# The sum of a clause above which its sentence is an order.
_CLAUSE = 1.5

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Encodes n texts as passages; an (n, dimension) array."""


@dataclass(frozen=True, kw_only=True)
class OrderWeights:
    """The coefficients of both models; a sentence whose sum is above 0 is an order.

    `words` and `shift_words` are the model of concepts alone, `concepts`, `vector` and `shift` the one that
    also reads the vectors of `encoder`. That one reads sentences whose sum by words is above `gate`.
    """

    encoder: str
    words: Numbers
    shift_words: float
    gate: float
    concepts: Numbers
    vector: Numbers
    shift: float

    @classmethod
    def read(cls, path: Path) -> OrderWeights:
        """Read the file that `write` wrote, by the same version of Citewell."""
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["features"] != list(FEATURES):
            raise ValueError(f"{path} has other features than the code.")
        words, concepts, vector = (np.array(value[name]) for name in ("words", "concepts", "vector"))
        return cls(
            encoder=value["encoder"],
            words=words,
            shift_words=value["shift_words"],
            gate=value["gate"],
            concepts=concepts,
            vector=vector,
            shift=value["shift"],
        )

    def write(self, path: Path) -> None:
        """Write the weights as JSON."""
        value = {
            name: np.round(number, 4).tolist() for name, number in vars(self).items() if name != "encoder"
        }
        text = json.dumps({"encoder": self.encoder, "features": FEATURES} | value)
        path.write_text(text.replace("], ", "],\n ") + "\n", encoding="utf-8")


@cache
def packaged_weights() -> OrderWeights:
    """Return the weights that come with Citewell."""
    return OrderWeights.read(WEIGHTS)


class OrderDetector:
    """A detector of sentences that tell a language model what to do (indirect prompt injection).

    Greshake et al. 2023, https://arxiv.org/abs/2302.12173, describe the attack.
    `python -m benchmarks.hostile.orders` measures what is found, and how many ordinary sentences are.
    """

    def __init__(self, encoder: str, encode: Encode, weights: OrderWeights | None = None) -> None:
        """Detect with the vectors of `encode` if the weights are for `encoder`, or else by words alone."""
        self._weights = weights or packaged_weights()
        self._encode = encode if encoder == self._weights.encoder else None

    def sums(self, sentences: Sequence[str]) -> Numbers:
        """Return `n` sums as an (n,) array; a sentence above 0 is an order.

        A clause that is clearly an order makes one of its sentence.
        """
        by_words = self._by_words(sentences)
        read = [place for place, value in enumerate(by_words) if value > self._weights.gate]
        clauses = [(place, clause) for place in read for clause in _clauses(sentences[place])]
        sums = by_words if self._encode is None else np.minimum(by_words, self._weights.gate)
        sums[read] = self._read([sentences[place] for place in read])
        for (place, _), value in zip(clauses, self._read([clause for _, clause in clauses]), strict=True):
            sums[place] = max(sums[place], value - _CLAUSE)
        return sums

    def _by_words(self, sentences: Sequence[str]) -> Numbers:
        sums: Numbers = with_pairs(found(sentences)) @ self._weights.words + self._weights.shift_words
        return sums

    def _read(self, texts: Sequence[str]) -> Numbers:
        if self._encode is None or not texts:
            return self._by_words(texts)
        weights = self._weights
        vectors = self._encode(texts).astype(np.float64)
        sums: Numbers = with_pairs(found(texts)) @ weights.concepts + vectors @ weights.vector + weights.shift
        return sums


def _clauses(sentence: str) -> list[str]:
    """Return what stands behind each comma, colon, semicolon or bracket."""
    behind = [sentence[mark.end() :] for mark in _MARK.finditer(sentence)]
    return [clause for clause in behind if len(clause.split()) >= _FEWEST_WORDS]
