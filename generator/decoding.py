"""The loop that writes: one continuation greedily, or several by chance, with guessed tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.generator.causal import TOP_P, Sampling, Seen
from citewell.generator.decoder import CachedText, PagedDecoder, Read
from citewell.generator.lookup import PromptLookup
from citewell.generator.shared_steps import Logits, Steps

# Tokens that are guessed at once, for all texts together: each costs about a tenth of what one step does.
_GUESSED = 5
# Tokens with less than this share of the likeliest one's probability are never drawn.
_NEGLIGIBLE = 1e-6


def log_probabilities(logits: NDArray[np.float32], tokens: Sequence[int]) -> list[float]:
    """Return the log-probability (in nats) of each of n tokens by its row of (n, vocabulary) logits."""
    exact = logits.astype(np.float64)
    highest = exact.max(axis=1)
    total = highest + np.log(np.exp(exact - highest[:, None]).sum(axis=1))
    found: list[float] = (exact[np.arange(len(tokens)), list(tokens)] - total).tolist()
    return found


class TokenChoice:
    """The choice of a text's next token by `Sampling`, with counts of the tokens that it has."""

    def __init__(self, sampling: Sampling, forbidden: Sequence[Sequence[int]] = ()) -> None:
        """Choose greedily, or by chance if `sampling` has `single`.

        The text begins with none of the sequences of tokens that are `forbidden`.
        """
        self._sampling = sampling
        self._forbidden = [tuple(each) for each in forbidden]  # what is left, where the text has begun so
        self._random = np.random.default_rng(abs(sampling.seed)) if sampling.single else None
        self._counts: Counter[int] = Counter()

    def __call__(self, logits: NDArray[np.float32]) -> int:
        """Return a token for logits of shape (vocabulary,)."""
        if self._sampling.frequency_penalty and self._counts:
            logits = logits.copy()
            counts = np.array(list(self._counts.values()), dtype=np.float32)
            logits[list(self._counts)] -= self._sampling.frequency_penalty * counts
        if ends := [left[0] for left in self._forbidden if len(left) == 1]:
            logits = logits.copy()
            logits[ends] = -np.inf
        token = int(logits.argmax()) if self._random is None else self._draw(logits, self._random)
        self._counts[token] += 1
        self._forbidden = [left[1:] for left in self._forbidden if left[0] == token]
        return token

    def _draw(self, logits: NDArray[np.float32], random: np.random.Generator) -> int:
        scaled = (logits - logits.max()) / self._sampling.temperature
        likely = np.flatnonzero(scaled > np.log(_NEGLIGIBLE))
        likely = likely[np.argsort(-scaled[likely], kind="stable")]
        shares = np.exp(scaled[likely].astype(np.float64))
        shares /= shares.sum()
        # The smallest set of tokens that have TOP_P of the probability between them.
        shares[np.cumsum(shares) - shares >= TOP_P] = 0.0
        return int(likely[random.choice(len(shares), p=shares / shares.sum())])


class _WrittenText:
    """A text that is being written."""

    def __init__(self, candidate: int, choice: TokenChoice, lookup: PromptLookup, row: CachedText) -> None:
        self.candidate = candidate
        self.row = row
        self.last = 0
        self.ended = False
        self._choice = choice
        self._lookup = lookup
        self._length = 0

    def guess(self, most: int) -> Sequence[int]:
        return self._lookup.guess(most)

    def choose(
        self, logits: NDArray[np.float32], guessed: Sequence[int], most: int, stop: Collection[int]
    ) -> list[int]:
        """Return the next tokens by logits of shape (n, vocabulary): right guesses, and one more."""
        chosen: list[int] = []
        for place in range(len(guessed) + 1):
            token = self._choice(logits[place])
            self.ended = token in stop
            if self.ended:
                break
            chosen.append(token)
            self._length += 1
            self.ended = self._length >= most
            if self.ended or place == len(guessed) or token != guessed[place]:
                break
        self._lookup.add(chosen)
        self.last = chosen[-1] if chosen else self.last
        return chosen


def share(logits: NDArray[np.floating[Any]], groups: Sequence[Collection[int]]) -> list[float]:
    """Return the probability of each group of tokens as a share of all groups' sum."""
    likely = np.exp(logits.astype(np.float64) - logits.max())
    sums = [sum(float(likely[token]) for token in group) for group in groups]
    return [each / max(sum(sums), 1e-30) for each in sums]


def write_on(
    decoder: PagedDecoder,
    row: CachedText,
    logits: Logits,
    prompt: Sequence[int],
    choices: Sequence[TokenChoice],
    *,
    most: int,
    stop: Collection[int],
    seen: Seen,
    together: Callable[[], int],
) -> Steps[None]:
    """Continue a prompt, which `row` has read, once for each choice by at most `most` tokens.

    `logits` are those after the prompt, of shape (1, vocabulary), and `together` returns how many texts share
    the steps. A continuation ends before a token of `stop`, and `seen` gets the tokens as they are chosen.
    """
    lookup = PromptLookup(prompt)
    texts = [
        _WrittenText(number, choice, lookup.copy(), decoder.copy(row))
        for number, choice in enumerate(choices)
    ]
    try:
        for text in texts:
            if chosen := text.choose(logits, (), most, stop):
                seen(text.candidate, chosen)
        while going := [text for text in texts if not text.ended]:
            # At least one, so that a text does not depend on what it shares steps with (`PagedDecoder.read`):
            # where a token occurred before, it is always read with a guess.
            guesses = [text.guess(max(_GUESSED // max(together(), 1), 1)) for text in going]
            found = yield [
                Read(text.row, [text.last, *guessed], len(guessed) + 1)
                for text, guessed in zip(going, guesses, strict=True)
            ]
            for text, own, guessed in zip(going, found, guesses, strict=True):
                chosen = text.choose(own, guessed, most, stop)
                # The last one that was chosen is not read yet.
                decoder.take_back(text.row, len(guessed) + 1 - len(chosen))
                if text.ended:
                    decoder.free(text.row)
                if chosen:
                    seen(text.candidate, chosen)
    finally:
        for text in texts:
            decoder.free(text.row)
