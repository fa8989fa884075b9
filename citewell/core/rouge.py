"""ROUGE-1, ROUGE-2 and ROUGE-L of one or many pairs of texts, equal to those of the package rouge-score.

Lin 2004 (https://aclanthology.org/W04-1013) counts what two texts share: words, pairs of adjacent words, or
the longest common subsequence of words. `rouge-score` tokenizes both texts again for each pair and fills a
table for ROUGE-L. Here a text is tokenized and counted once (`Text`), and the longest common subsequence
advances by whole rows of that table, stored as the bits of one integer.
`python -m benchmarks.rouge` compares the numbers and the speed of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from citewell.core.text import words

Tokenizer = Callable[[str], Sequence[str]]
Matrix = NDArray[np.float64]
_Item = TypeVar("_Item")


class Rouge(StrEnum):
    """The variants of ROUGE; the values are rouge-score's names."""

    ROUGE_1 = "rouge1"
    """Words, each counted as often as both texts contain it."""
    ROUGE_2 = "rouge2"
    """Pairs of adjacent words, each counted as often as both texts contain it."""
    ROUGE_L = "rougeL"
    """The longest common subsequence of words."""


class RougeScore(NamedTuple):
    """Precision (share of the prediction), recall (share of the target) and their harmonic mean, 0 to 1."""

    precision: float
    recall: float
    f1: float


class RougeScores(NamedTuple):
    """The `RougeScore` of each of `n` predictions with each of `m` targets: three (n, m) arrays."""

    precision: Matrix
    recall: Matrix
    f1: Matrix


class Text:
    """A text tokenized once, to be compared with any number of others from the same tokenizer.

    For ASCII text, the default tokenizer, `citewell.core.text.words`, gives the same words as rouge-score's
    (runs of a to z and 0 to 9 in lower case). It also keeps letters of other scripts, which rouge-score
    drops, and makes each character of Chinese, Japanese and Thai a word.
    """

    def __init__(self, text: str, tokenize: Tokenizer = words) -> None:
        self.tokens = tuple(tokenize(text))

    @classmethod
    def joined(cls, texts: Iterable[Text]) -> Text:
        """Several texts concatenated, without tokenizing them again."""
        text = cls("")
        text.tokens = tuple(token for each in texts for token in each.tokens)
        return text

    def size(self, rouge: Rouge) -> int:
        """Return the number of words, or of pairs of adjacent words for ROUGE-2."""
        return max(0, len(self.tokens) - 1) if rouge is Rouge.ROUGE_2 else len(self.tokens)

    def overlap(self, other: Text, rouge: Rouge) -> int:
        """Return the number of units that both texts share."""
        if rouge is Rouge.ROUGE_1:
            return _shared(self._words, other._words)
        if rouge is Rouge.ROUGE_2:
            return _shared(self._pairs, other._pairs)
        return _longest_common_subsequence(self.tokens, other._positions, len(other.tokens))

    @cached_property
    def _words(self) -> Counter[str]:
        return Counter(self.tokens)

    @cached_property
    def _pairs(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self.tokens))

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The positions of each word as a bit set: bit `i` is 1 if token `i` is that word."""
        positions: dict[str, int] = {}
        bit = 1
        for token in self.tokens:
            positions[token] = positions.get(token, 0) | bit
            bit <<= 1
        return positions


def score(prediction: Text, target: Text, rouge: Rouge = Rouge.ROUGE_1) -> RougeScore:
    """Compare two texts. If either has no words, all three numbers are 0."""
    overlap = prediction.overlap(target, rouge)
    precision = overlap / max(1, prediction.size(rouge))
    recall = overlap / max(1, target.size(rouge))
    f1 = 2 * precision * recall / (precision + recall) if overlap else 0.0
    return RougeScore(precision, recall, f1)


def scores(predictions: Sequence[Text], targets: Sequence[Text], rouge: Rouge = Rouge.ROUGE_1) -> RougeScores:
    """Compare each of `n` texts with each of `m`, as `score` does; three (n, m) arrays."""
    shape = len(predictions), len(targets)
    found = [prediction.overlap(target, rouge) for prediction in predictions for target in targets]
    overlaps = np.array(found, dtype=np.float64).reshape(shape)
    sizes = np.array([max(1, text.size(rouge)) for text in (*predictions, *targets)])
    precision: Matrix = overlaps / sizes[: shape[0], None]
    recall: Matrix = overlaps / sizes[None, shape[0] :]
    # Without overlap both are 0, and so is their mean.
    f1: Matrix = 2 * precision * recall / np.where(overlaps, precision + recall, 1)
    return RougeScores(precision, recall, f1)


def _shared(some: Counter[_Item], others: Counter[_Item]) -> int:
    """Return the size of the intersection as multisets: `(some & others).total()`, without building it."""
    if len(some) > len(others):
        some, others = others, some
    shared = 0
    for item, count in some.items():
        if other := others.get(item):
            shared += count if count < other else other
    return shared


def _longest_common_subsequence(tokens: Sequence[str], positions: dict[str, int], length: int) -> int:
    """Return the length of the longest common subsequence, by bit-parallel dynamic programming.

    A row of the table is one integer whose bit `i` is 0 if the subsequence grows at token `i` of the other
    text. Hyyrö 2004, "Bit-parallel LCS-length computation revisited" (AWOCA 2004).
    """
    row = full = (1 << length) - 1
    for token in tokens:
        if bits := positions.get(token):
            matches = row & bits
            row = (row + matches) | (row - matches)
    return length - (row & full).bit_count()
