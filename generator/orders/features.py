"""The features of a sentence: the concepts in it, and their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from citewell.generator.orders.concepts import CONCEPTS
from citewell.generator.orders.plain_text import plain

Numbers = NDArray[np.float64]

_SHORT = 4  # words
FEATURES = (*CONCEPTS, "disguised", "short", "question")
"""The names of the features of `found`."""
_PAIRS = np.array(list(combinations(range(len(CONCEPTS)), 2))).T


def found(sentences: Sequence[str]) -> Numbers:
    """Return what is found in `n` sentences as an (n, features) array of zeros and ones."""
    return np.array([_found(sentence) for sentence in sentences], dtype=np.float64).reshape(-1, len(FEATURES))


def with_pairs(features: Numbers) -> Numbers:
    """Return `found` features and the products of each two concepts, as an (n, all) array."""
    first, second = _PAIRS
    return np.concatenate([features, features[:, first] * features[:, second]], axis=1)


def _found(sentence: str) -> list[bool]:
    text, disguised = plain(sentence)
    concepts = [pattern.search(text) is not None for pattern in CONCEPTS.values()]
    return [*concepts, disguised, len(sentence.split()) <= _SHORT, sentence.rstrip().endswith(("?", "？"))]
