"""Guesses at the next tokens of a text: those that followed its last ones before.

Answers repeat their references, so such guesses are often right, and a model checks several at once sooner
than it writes them one by one (https://github.com/apoorvumang/prompt-lookup-decoding).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LONGEST = 3
_AFTER_ONE = 3  # tokens that are guessed where only the last one occurred before


class PromptLookup:
    """A text with the places of its sequences of up to three tokens."""

    def __init__(self, tokens: Iterable[int] = ()) -> None:
        """Begin with the tokens of a prompt."""
        self._tokens: list[int] = []
        self._next: dict[tuple[int, ...], int] = {}
        self.add(tokens)

    def add(self, tokens: Iterable[int]) -> None:
        """Append tokens that were written."""
        for token in tokens:
            for length in range(1, min(_LONGEST, len(self._tokens)) + 1):
                self._next[tuple(self._tokens[-length:])] = len(self._tokens)
            self._tokens.append(token)

    def guess(self, most: int) -> Sequence[int]:
        """Return at most `most` tokens that followed the last ones where these occurred last; maybe none."""
        for length in range(_LONGEST, 0, -1):
            start = self._next.get(tuple(self._tokens[-length:]))
            if start is not None:
                return self._tokens[start : start + (most if length > 1 else min(most, _AFTER_ONE))]
        return ()

    def copy(self) -> PromptLookup:
        """Return an equal text, which grows by itself."""
        other = PromptLookup()
        other._tokens, other._next = self._tokens.copy(), self._next.copy()
        return other
