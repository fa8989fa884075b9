"""Limits of an episode and of the part of it that is in view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from citewell.core.errors import InputError

Count = Callable[[str], int]
"""Returns the number of tokens of a text, by the tokenizer of the model that reads the state."""

_MIN_TOKENS = 256  # the words of the layout alone take up to 140, where every byte is a token
_OF_WINDOW = 0.6


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """The limits of an episode and of its states; a trained policy has to browse with those of its training.

    Raises `InputError` for a number that is too small for browsing.
    """

    actions: int = 100
    """Actions after which browsing ends (WebGPT §4, https://arxiv.org/abs/2112.09332)."""
    quote_chars: int = 6_000
    """Characters of all quotes together, after which browsing ends: about 1,500 tokens of English, which
    leaves room for a question and an answer in the 2,048 tokens that WebGPT's models read."""
    state_tokens: int = 1_500
    """Maximum tokens of a state as text."""
    window_lines: int = 20
    """Maximum lines of the page in view."""

    def __post_init__(self) -> None:
        least = {"actions": 1, "quote_chars": 1, "state_tokens": _MIN_TOKENS, "window_lines": 2}
        for name, number in least.items():
            if getattr(self, name) < number:
                raise InputError(
                    f"{name} is {getattr(self, name)}, which is too small.", f"Give at least {number}."
                )

    @property
    def window_tokens(self) -> int:
        """Maximum tokens of the text in view. The rest is for the question, quotes and past actions."""
        return int(self.state_tokens * _OF_WINDOW)
